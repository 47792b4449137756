// What expressions give, one line each.
function show(value) {
  if (typeof value === 'bigint') return `${value}n`;
  if (Object.is(value, -0)) return '-0';
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

export function report(expressions) {
  const lines = expressions.map((expression) => {
    try {
      return `${expression}  =>  ${show((0, eval)(expression))}`;
    } catch (error) {
      return `${expression}  throws  ${error.name}`;
    }
  });
  return lines.join('\n');
}
