import fs from 'k6/experimental/fs';
export const { size } = await (await fs.open('table.csv')).stat();
