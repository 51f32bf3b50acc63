import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/servers/service-process.js';
import { makeReaderBucket } from './bucket.js';
import { type Block, readBlocks } from './blocks.js';
import { openTerminals, type Terminals } from './terminals.js';

/*
 * Runs the commands of README.md, of the guides in docs and of docs/payments as they are printed, one block after the other, against
 * the service that they start; only the port is another. It fails where a command fails, a request is refused, or something else is
 * printed than the file says. Arguments name the files to run; without any it runs all.
 */
const clone = fileURLToPath(new URL('../../../', import.meta.url));

/** Documents in docs that are no guides. */
const notGuides = ['api.md', 'benchmarks.md', 'style.md'];
/** It starts from nothing, as README does. Every other guide goes on where README ends. */
const longWalk = 'docs/first-calls.md';

/** Takes a line on what became of a block. */
type Report = (line: string) => void;

/** Most of a document's time is waiting. */
const pagesAtOnce = 2;

const wanted = process.argv.slice(2);
const waiting = [...(await allPages())].filter(([file]) => wanted.length === 0 || wanted.includes(file));
await Promise.all(Array.from({ length: pagesAtOnce }, followNext));

/** Follows one document after the other until none waits, and prints what became of each. */
async function followNext(): Promise<void> {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const lines: string[] = [];
    try {
      await follow(next[1], (line) => lines.push(line));
    } catch (error) {
      lines.push(error instanceof Error ? error.message : String(error));
      process.exitCode = 1;
    }
    for (const line of lines) console.log(line);
  }
}

async function allPages(): Promise<ReadonlyMap<string, readonly Block[]>> {
  const readme = await blocksOf('README.md');
  const common = await blocksOf('docs/payments/README.md');
  const pages = new Map([['README.md', readme]]);
  for (const file of await markdownIn('docs', notGuides)) {
    const own = await blocksOf(file);
    pages.set(file, file === longWalk ? own : goingOnAfter(readme, own));
  }
  for (const file of await markdownIn('docs/payments', ['README.md'])) {
    pages.set(file, goingOnAfter(common, await blocksOf(file)));
  }
  return pages;
}

/**
 * The blocks that come before a page's own, then these. A page that starts the service in its own way does so first. A page that runs
 * nothing needs nothing before it.
 */
function goingOnAfter(before: readonly Block[], own: readonly Block[]): readonly Block[] {
  if (own.every(({ notRun }) => notRun !== null)) return own;
  const starts = own.findIndex(isOfService);
  if (starts < 0) return [...before, ...own];
  return [
    ...own.slice(0, starts + 1),
    ...before.filter((block) => !isOfService(block)),
    ...own.slice(starts + 1),
  ];
}

function isOfService({ terminal }: Block): boolean {
  return terminal === 'service';
}

async function blocksOf(file: string): Promise<readonly Block[]> {
  return readBlocks(file, await readFile(join(clone, file), 'utf8'));
}

async function markdownIn(folder: string, others: readonly string[]): Promise<readonly string[]> {
  const names = await readdir(join(clone, folder));
  return names
    .filter((name) => name.endsWith('.md') && !others.includes(name))
    .sort()
    .map((name) => `${folder}/${name}`);
}

async function follow(blocks: readonly Block[], report: Report): Promise<void> {
  if (blocks.length === 0) return;
  const directory = await mkdtemp(join(tmpdir(), 'stowage-readme-'));
  for (const name of ['package.json', 'node_modules', 'dist']) {
    await symlink(join(clone, name), join(directory, name));
  }
  const [port, metricsPort] = [await freePort(), await freePort()];
  const bucket = blocks.some((block) => block.needs !== null && missingFor(block) === null)
    ? await makeReaderBucket(process.env)
    : null;
  const variables = bucket?.variables ?? {};
  const terminals = openTerminals({ directory, port, metricsPort, variables });
  try {
    for (const [index, block] of blocks.entries())
      report(await tryBlock(terminals, block, blocks.slice(0, index + 1)));
  } finally {
    await terminals.close();
    await bucket?.remove();
    await rm(directory, { recursive: true, force: true });
  }
}

/** @returns what became of the block. @throws Error when it fails */
async function tryBlock(terminals: Terminals, block: Block, soFar: readonly Block[]): Promise<string> {
  const name = `${block.file}:${block.line} (${block.heading})`;
  const skipped = block.notRun ?? missingFor(block);
  if (skipped !== null) return `SKIPPED ${name}: ${skipped}`;
  try {
    await run(terminals, block, soFar);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`FAILED ${name}: ${why}`, { cause: error });
  }
  return `ok ${name}`;
}

/** Says that a server is missing which the block needs; null when nothing is missing. */
function missingFor({ needs }: Block): string | null {
  return needs === null || (process.env[needs] ?? '') !== '' ? null : `${needs} is not set`;
}

async function run(terminals: Terminals, block: Block, soFar: readonly Block[]): Promise<void> {
  if (block.terminal === 'service') {
    await terminals.start(soFar.filter(isOfService));
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
