import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/service-process.js';
import { type Block, readBlocks } from './blocks.js';
import { openTerminals, type Terminals } from './terminals.js';

/*
 * Runs the commands of README.md and of docs/payments as they are printed, one block after the other, against the service that they
 * start; only the port is another. It fails where a command fails, a request is refused, or something else is printed than the
 * file says.
 */
const clone = fileURLToPath(new URL('../../../', import.meta.url));

try {
  for (const blocks of [await blocksOf('README.md'), ...(await blocksOfPaymentPages())]) await follow(blocks);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function blocksOf(file: string): Promise<readonly Block[]> {
  return readBlocks(file, await readFile(join(clone, file), 'utf8'));
}

/** A platform's page starts the service, and goes on after the commands that are for all of them. */
async function blocksOfPaymentPages(): Promise<readonly (readonly Block[])[]> {
  const folder = 'docs/payments';
  const common = await blocksOf(`${folder}/README.md`);
  const pages = (await readdir(join(clone, folder))).filter((name) => name !== 'README.md').sort();
  return Promise.all(
    pages.map(async (page) => {
      const own = await blocksOf(`${folder}/${page}`);
      const isOfService = ({ terminal }: Block): boolean => terminal === 'service';
      if (!own.some(isOfService)) return own;
      return [...own.filter(isOfService), ...common, ...own.filter((block) => !isOfService(block))];
    }),
  );
}

async function follow(blocks: readonly Block[]): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'stowage-readme-'));
  for (const name of ['package.json', 'node_modules', 'dist']) {
    await symlink(join(clone, name), join(directory, name));
  }
  const [port, metricsPort] = [await freePort(), await freePort()];
  const terminals = openTerminals({ directory, port, metricsPort });
  try {
    for (const [index, block] of blocks.entries())
      await tryBlock(terminals, block, blocks.slice(0, index + 1));
  } finally {
    await terminals.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function tryBlock(terminals: Terminals, block: Block, soFar: readonly Block[]): Promise<void> {
  const name = `${block.file}:${block.line} (${block.heading})`;
  if (block.notRun !== null) {
    console.log(`SKIPPED ${name}: ${block.notRun}`);
    return;
  }
  try {
    await run(terminals, block, soFar);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`FAILED ${name}: ${why}`, { cause: error });
  }
  console.log(`ok ${name}`);
}

async function run(terminals: Terminals, block: Block, soFar: readonly Block[]): Promise<void> {
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
