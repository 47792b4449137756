const names = ['open', 'require', 'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'console', 'global', 'globalThis', '__ENV', '__VU', '__ITER',
  'fetch', 'URL', 'URLSearchParams', 'structuredClone', 'process', 'Buffer', 'performance', 'queueMicrotask', 'window', 'self', 'navigator', 'print', 'gc', 'scriptArgs', 'Intl',
  'atob', 'btoa', 'setImmediate', 'DOMException', 'Iterator', 'WebAssembly', 'SharedArrayBuffer', 'Atomics', 'FinalizationRegistry', 'AsyncFunction', 'eval', 'Function', 'Proxy', 'Reflect', 'BigInt', 'escape'];
if (__VU === 0) console.log(names.filter((n) => typeof globalThis[n] !== 'undefined').filter((n) => !['Intl', 'DOMException', 'Iterator', 'WebAssembly', 'SharedArrayBuffer', 'Atomics', 'FinalizationRegistry', 'navigator', 'atob', 'btoa', 'structuredClone'].includes(n)).join());
if (__VU === 0) console.log(typeof __ITER, __VU, typeof __ENV);
export default function () {
  console.log(__ITER, __VU, Object.keys(__ENV).includes('TARGET'), __ENV.NOPE);
  __ENV.MADE = 'here'; console.log(__ENV.MADE);
  delete __ENV.MADE; console.log(__ENV.MADE);
  console.log(eval('1+1'), new Function('a', 'return a * 2')(21), typeof this);
  globalThis.own = 5; console.log(own, typeof globalThis.own, 'own' in globalThis);
  console.log(Object.prototype.toString.call(globalThis), typeof globalThis);
}
