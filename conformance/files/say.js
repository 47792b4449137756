import { check } from 'k6';

// What happened, as the name of a check. Paths of folders are left out.
const shown = (value) => (value === undefined ? 'undefined' : typeof value === 'string' ? value : JSON.stringify(value));
export const clean = (text) => text.replace(/(file:\/\/)?\/[^"' ]*\//g, 'DIR/').replace(/::/g, ': :');
export const note = (name, value) => check(1, { [`${name}: ${clean(shown(value))}`]: true });
export async function say(name, what) {
  let text;
  try {
    text = shown(await what());
  } catch (error) {
    text = `throws ${error}`;
  }
  note(name, text);
}
