export const options = { iterations: 8 };
class MyError extends Error { constructor(m) { super(m); this.name = 'MyError'; } }
export default function () {
  switch (__ITER) {
    case 0: throw new Error('plain');
    case 1: throw new TypeError('typed');
    case 2: throw new MyError('mine');
    case 3: throw null;
    case 4: throw 42;
    case 5: return undefinedVariable;
    case 6: try { return null.property; } catch (e) { throw new Error(e.name); }
    case 7: throw { a: 1 };
  }
}
