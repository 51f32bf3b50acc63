/* A process that fills a folder without an end: test/operating/backup-folder.test.ts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fillFolder } from '../../src/operating/backup/backup-folder.js';

setInterval(() => undefined, 1_000);
await fillFolder(process.argv[2] ?? '', (partial) => {
  writeFileSync(join(partial, 'keys.json'), 'a secret');
  process.send?.('filling');
  return new Promise(() => undefined);
});
