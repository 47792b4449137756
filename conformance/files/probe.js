// What scripts about HTML share: values as text, and checks named by what expressions give.
import { check } from 'k6';

export function show(value) {
  if (value === undefined) return 'undefined';
  if (value === null) return 'null';
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object') return `${value}`;
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`;
  if (typeof value.nodeName === 'function') return element(value);
  if (typeof value.find === 'function' && typeof value.size === 'function') return `Selection ${show(value.toArray().map((s) => s.get(0)))}`;
  if (value.owner_element !== undefined) return `Attribute ${value.name}=${show(value.value)} of ${show(value.owner_element)}`;
  return `{${Object.keys(value).sort().map((key) => `${key}: ${show(value[key])}`).join(', ')}}`;
}

function element(node) {
  if (node.nodeType() === 1) return `<${node.nodeName()}${node.id() ? `#${node.id()}` : ''}>`;
  return `${node.nodeName()}${show(node.nodeValue())}`;
}

// The server's address differs from run to run.
function local(text) {
  return text.split(__ENV.BASE_URL).join('').split(__ENV.BASE_URL.replace('http://', '')).join('HOST');
}

// A failed call is its error's name and text: but not of errors that are the engine's own.
export function outcome(body) {
  try {
    return local(show(body()));
  } catch (error) {
    return local(`throws ${error instanceof TypeError ? 'TypeError' : error}`.replace(/ at .*/, ''));
  }
}

// Checks are named by the expression's number and what it gives, as `::` cannot be part of a name.
export function probe(...bodies) {
  bodies.forEach((body, index) => {
    check(1, { [`${index + 1}: ${outcome(body)}`.replace(/::/g, ': :')]: true });
  });
}
