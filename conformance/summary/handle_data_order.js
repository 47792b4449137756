// The order of groups and checks is that of their first use.
// flags: --quiet
// written: stdout
import { check, group } from 'k6';
export default function () {
  check(1, { zebra: true }); check(1, { ant: true });
  group('z', () => check(1, { b: true, a: true })); group('a', () => {});
}
export function handleSummary(data) {
  const tree = (group) => ({ [group.name]: [group.checks.map((check) => check.name), group.groups.map(tree)] });
  return { stdout: JSON.stringify(tree(data.root_group)) };
}
