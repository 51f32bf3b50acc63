import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/service-process.js';
import { type Block, readBlocks } from './blocks.js';
import { openTerminals } from './terminals.js';

/*
 * Runs the commands of README.md as they are printed, one block after the other, against the service that they start; only the
 * port is another. It fails where a command fails, a request is refused, or something else is printed than README.md says.
 */
const clone = fileURLToPath(new URL('../../../', import.meta.url));
const blocks = readBlocks(await readFile(join(clone, 'README.md'), 'utf8'));
const directory = await mkdtemp(join(tmpdir(), 'stowage-readme-'));
for (const name of ['package.json', 'node_modules', 'dist'])
  await symlink(join(clone, name), join(directory, name));
const terminals = openTerminals({ directory, port: await freePort() });
try {
  for (const [index, block] of blocks.entries()) await follow(block, blocks.slice(0, index + 1));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await terminals.close();
  await rm(directory, { recursive: true, force: true });
}

async function follow(block: Block, soFar: readonly Block[]): Promise<void> {
  const name = `README.md:${block.line} (${block.heading})`;
  if (block.notRun !== null) {
    console.log(`SKIPPED ${name}: ${block.notRun}`);
    return;
  }
  try {
    await obey(block, soFar);
  } catch (error) {
    throw new Error(`FAILED ${name}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  console.log(`ok ${name}`);
}

async function obey(block: Block, soFar: readonly Block[]): Promise<void> {
  if (block.terminal === 'service') {
    await terminals.start(soFar.filter(({ terminal }) => terminal === 'service'));
    return;
  }
  const printed = await terminals.run(block);
  let from = 0;
  for (const text of block.prints) {
    const found = printed.indexOf(text, from);
    if (found < 0) throw new Error(`"${text}" is not in what it printed:\n${printed}`);
    from = found + text.length;
  }
}
