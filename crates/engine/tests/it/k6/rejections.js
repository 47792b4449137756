export const options = { iterations: 6 };
export default function () {
  console.log('iteration', __ITER);
  if (__ITER === 0) { Promise.reject(new Error('unhandled')); }
  if (__ITER === 1) { const p = Promise.reject(new Error('handled later')); p.catch((e) => console.log('handled', e.message)); }
  if (__ITER === 2) { setTimeout(() => { throw new TypeError('in a timer'); }, 1); setTimeout(() => console.log('not run'), 30); }
  if (__ITER === 3) { return (async () => { await null; throw new RangeError('async function'); })(); }
  if (__ITER === 4) { Promise.reject('text'); }
  if (__ITER === 5) { new Promise(() => { throw new Error('executor'); }); }
}
