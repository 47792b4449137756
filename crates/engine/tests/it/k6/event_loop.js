export const options = { iterations: 1 };
export default async function () {
  console.log('start');
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  wait(200).then(() => console.log('later'));
  await null; console.log('after null');
  await Promise.all([wait(5), wait(1)]); console.log('all');
  try { await Promise.reject(new Error('rejected')); } catch (e) { console.log('caught', e.message); }
  const race = await Promise.race([wait(1).then(() => 'fast'), wait(300).then(() => 'slow')]); console.log(race);
  console.log(await Promise.any([Promise.reject(1), Promise.resolve(2)]), JSON.stringify(await Promise.allSettled([1, Promise.reject(2)])));
  setTimeout(() => console.log('kept alive'), 5);
  return 'done';
}
