// A library in the shape of k6-utils: a CommonJS bundle with helpers, its own checks, tags by stage.
// imports
// varies: iterations iteration_duration dropped_iterations checks
import { randomIntBetween, randomItem, randomString, uuidv4, findBetween, parseDuration, check, getCurrentStageIndex, tagWithCurrentStageIndex, root } from '{MODULES}/lib/utils.js';
import exec from 'k6/execution';
export const options = { scenarios: { s: { executor: 'ramping-arrival-rate', startRate: 4, timeUnit: '1s', preAllocatedVUs: 2, stages: [{ duration: '500ms', target: 4 }, { duration: '500ms', target: 4 }] } } };
export default function () {
  const number = randomIntBetween(3, 5);
  tagWithCurrentStageIndex();
  check(number, {
    'in range': (n) => n >= 3 && n <= 5,
    [`item ${randomItem(['x'])}`]: true,
    [`text ${randomString(8).length} ${randomString(4, 'q')}`]: true,
    [`uuid ${/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(uuidv4())}`]: true,
    [`between ${findBetween('<a>1</a><a>2</a>', '<a>', '</a>', true)} ${findBetween('x', 'y', 'z')}`]: true,
    [`duration ${parseDuration('1h2m3.5s')} ${parseDuration('500ms')}`]: true,
    [`global ${root}`]: true,
    'stage is a number': () => [0, 1].includes(getCurrentStageIndex()) && exec.vu.tags.stage !== undefined,
  });
}
