// Data of setup() whose class has a method toJSON.
import { check } from 'k6';
class Own {
  constructor() { this.a = [1]; }
  toJSON() { return 'own'; }
}
export function setup() { return { own: new Own() }; }
export default function (data) { check(1, { [JSON.stringify(data)]: true }); }
