import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clone, guides, read, regenerate } from './documents.js';

/* Writes the generated parts of the documents: `npm run docs`. */
for (const file of guides) {
  const before = read(file);
  const after = await regenerate(file, before);
  if (after === before) continue;
  writeFileSync(join(clone, file), after);
  console.log(`wrote ${file}`);
}
