import { check, group, fail } from 'k6';
import exec from 'k6/execution';
export const options = {
  thresholds: { 'group_duration{group:::outer}': ['max>=0'], 'group_duration{group:::outer::inner}': ['max>=0'], 'checks{group:::outer::inner}': ['rate>0'] },
};
export default function () {
  console.log(group('outer', () => {
    console.log('in', exec.vu.metrics.tags.group);
    const inner = group('inner', function () { check(1, { ok: true }); return exec.vu.metrics.tags.group; });
    console.log(inner);
    return 42;
  }));
  console.log(JSON.stringify(exec.vu.metrics.tags.group));
  try { group('a::b', () => 1); } catch (e) { console.log(String(e)); }
  try { group('no callback'); } catch (e) { console.log(String(e)); }
  try { group('async', async () => 1); } catch (e) { console.log(String(e).slice(0, 60)); }
  try { group('throws', () => { throw new RangeError('inside'); }); } catch (e) { console.log(String(e)); }
  console.log(JSON.stringify(exec.vu.metrics.tags.group));
  group('', () => console.log(JSON.stringify(exec.vu.metrics.tags.group)));
  group('last', () => { fail('give up'); });
}
export function handleSummary(data) {
  const walk = (g, depth) => {
    console.log('-'.repeat(depth), JSON.stringify(g.name), g.path, g.checks.map((c) => c.path).join());
    g.groups.forEach((child) => walk(child, depth + 1));
  };
  walk(data.root_group, 0);
  for (const name of Object.keys(data.metrics).filter((n) => n.includes('group')).sort()) console.log(name, data.metrics[name].type);
  return {};
}
