// One GET over the kept connection of each VU.
//
// REDIS      host:port of a Redis server
import redis from 'k6/experimental/redis';

const client = new redis.Client(`redis://${__ENV.REDIS}`);

export async function setup() {
  await client.set('key', 'a value');
}

export default async function () {
  if ((await client.get('key')) !== 'a value') throw new Error('the value is another');
}
