// randomUUID(): form, and that it needs no this.
import { check } from 'k6';

const note = (name) => check(null, { [name]: () => true });

export default async function () {
  const uuid = crypto.randomUUID();
  note(String(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(uuid)));
  const { randomUUID } = crypto;
  note(`${randomUUID().length} ${randomUUID() !== randomUUID()} ${crypto.randomUUID(1, 2).length}`);
}
