// Writes declared_members.txt: the members of classes, interfaces and exported objects that @types/k6 declares.
//
//   npm install @types/k6@1.7.0 typescript@5
//   node declared_members.mjs > declared_members.txt
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { readdirSync, statSync, existsSync, readFileSync } from 'node:fs';
const require = createRequire(process.cwd() + '/');
const ts = require('typescript');
const root = dirname(require.resolve('@types/k6/package.json'));
const version = JSON.parse(readFileSync(join(root, 'package.json'))).version;

function* modules(dir, name) {
  if (existsSync(join(dir, 'index.d.ts'))) yield [name, join(dir, 'index.d.ts')];
  for (const entry of readdirSync(dir).sort()) {
    if (statSync(join(dir, entry)).isDirectory()) yield* modules(join(dir, entry), `${name}/${entry}`);
  }
}
const all = [...modules(root, 'k6')].filter(([name]) => name !== 'k6/options' && !name.startsWith('k6/browser'));
const program = ts.createProgram(all.map(([, file]) => file), { lib: ['lib.es2022.d.ts'], skipLibCheck: true, strict: true });
const checker = program.getTypeChecker();
console.log(`# Members of what the npm package @types/k6 ${version} declares; written by declared_members.mjs, which says how.`);
const isOurs = (symbol) => (symbol.declarations ?? []).some((d) => d.getSourceFile().fileName.startsWith(root));
const names = (symbols) => [...new Set(symbols.filter(isOurs).map((s) => s.name).filter((n) => !n.startsWith('__') && n !== 'prototype'))].sort().join(' ');
for (const [name, file] of all) {
  const source = program.getSourceFile(file);
  const symbol = checker.getSymbolAtLocation(source);
  if (!symbol) continue;
  const value = (s) => {
    const real = s.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(s) : s;
    return (real.flags & ts.SymbolFlags.Value) !== 0;
  };
  for (const exported of checker.getExportsOfModule(symbol).filter(value)) {
    const declaration = exported.valueDeclaration;
    if (!declaration || !ts.isVariableDeclaration(declaration)) continue;
    const type = checker.getTypeOfSymbol(exported);
    const members = type.getCallSignatures().length === 0 ? names(checker.getPropertiesOfType(type)) : '';
    if (members) console.log(`${name} value ${exported.name}: ${members}`);
  }
  // Also what is declared in the file without being exported by name, such as the types of what functions return.
  const local = [];
  ts.forEachChild(source, (node) => {
    if ((ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node)) && node.name) local.push(checker.getSymbolAtLocation(node.name));
    if (ts.isModuleDeclaration(node) && node.body) ts.forEachChild(node.body, (inner) => {
      if ((ts.isInterfaceDeclaration(inner) || ts.isClassDeclaration(inner)) && inner.name) local.push(checker.getSymbolAtLocation(inner.name));
    });
  });
  for (const s of [...new Set(local)].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const kind = s.flags & ts.SymbolFlags.Class ? 'class' : 'interface';
    const base = (checker.getBaseTypes(checker.getDeclaredTypeOfSymbol(s)) ?? []).map((b) => b.symbol.name)[0];
    const members = names([...s.members.values()].filter((m) => m.flags & (ts.SymbolFlags.Property | ts.SymbolFlags.Method | ts.SymbolFlags.Accessor)));
    console.log(`${name} ${kind} ${s.name}${base ? ` extends ${base}` : ''}: ${members}`.trimEnd());
    if (kind === 'class') {
      const statics = names(checker.getPropertiesOfType(checker.getTypeOfSymbol(s)));
      if (statics) console.log(`${name} static ${s.name}: ${statics}`);
    }
  }
}
