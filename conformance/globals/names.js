// Which global names there are: k6 1.8 has neither TextEncoder nor TextDecoder, and some of the newer language is missing there.
// files: results.js
import { report } from './results.js';

const names = ['Object', 'Function', 'Array', 'String', 'globalThis', 'NaN', 'Infinity', 'undefined', 'isNaN', 'parseInt', 'isFinite', 'decodeURI',
  'decodeURIComponent', 'encodeURI', 'encodeURIComponent', 'escape', 'unescape', 'Number', 'RegExp', 'Date', 'Boolean', 'Proxy', 'Reflect', 'Error', 'AggregateError',
  'TypeError', 'ReferenceError', 'SyntaxError', 'RangeError', 'EvalError', 'URIError', 'eval', 'Math', 'JSON', 'ArrayBuffer', 'DataView', 'Uint8Array',
  'Uint8ClampedArray', 'Uint16Array', 'Uint32Array', 'Int8Array', 'Int16Array', 'Int32Array', 'Float32Array', 'Float64Array', 'BigInt', 'BigInt64Array',
  'BigUint64Array', 'Symbol', 'WeakSet', 'WeakMap', 'Map', 'Set', 'Promise', '__ENV', '__VU', '__ITER', 'console', 'global', 'open', 'require', 'setTimeout',
  'clearTimeout', 'setInterval', 'clearInterval', 'crypto', 'URL', 'URLSearchParams', 'structuredClone', 'atob', 'btoa', 'fetch', 'Headers', 'Request', 'Response',
  'FormData', 'XMLHttpRequest', 'WebSocket', 'Blob', 'File', 'FileReader', 'ReadableStream', 'WritableStream', 'TransformStream', 'performance',
  'queueMicrotask', 'setImmediate', 'clearImmediate', 'AbortController', 'AbortSignal', 'Event', 'EventTarget', 'CustomEvent', 'DOMException', 'MessageChannel',
  'Worker', 'Buffer', 'process', 'window', 'document', 'self', 'navigator', 'location', 'localStorage', 'Intl', 'WebAssembly', 'reportError', 'print', 'gc',
  'scriptArgs', 'std', 'os', 'bjson', 'requestAnimationFrame', 'alert', 'CompressionStream', 'TextEncoderStream', 'exports_', 'Deno', 'Bun'];

export default function () {
  report(names.map((name) => [name, () => typeof globalThis[name]]));
}
