// Files that cannot be opened.
// files: say.js table.csv
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const results = [];
for (const path of [undefined, null, '', 'nowhere.txt', '.', 'lib/../nowhere.txt', 5])
  results.push([`open ${path}`, await fs.open(path).then(() => 'opened', (error) => `${error} ${error.name} ${JSON.stringify(error)}`)]);
export default function () { for (const [name, text] of results) note(name, text.replace(/directory \\?"[^"]*\//g, 'directory "DIR/').replace(/open \\?"[^"]*"/g, 'open "PATH"')); }
