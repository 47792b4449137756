// A summary as text, from the argument of handleSummary().
export function textSummary(data, { indent = ' ' } = {}) {
  const names = Object.keys(data.metrics).filter((name) => ['checks', 'iterations', 'things'].includes(name)).sort();
  const rows = names.map((name) => {
    const { type, values } = data.metrics[name];
    const shown = type === 'rate' ? `${(values.rate * 100).toFixed(2)}% ${values.passes}/${values.fails}` : `${values.count ?? values.value}`;
    return `${indent}${name}: ${shown}`;
  });
  const checks = [];
  (function walk(group, path) {
    for (const check of group.checks) checks.push(`${indent}${path}${check.name}: ${check.passes}/${check.fails}`);
    for (const child of group.groups) walk(child, `${path}${child.name}/`);
  })(data.root_group, '');
  return [...rows, ...checks].join('\n') + '\n';
}
