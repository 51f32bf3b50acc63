import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import test from 'ava';

const run = promisify(execFile);
const log = new URL('../src/log.js', import.meta.url).href;
const evaluate = ['--input-type=module', '--eval'];

/** A script with a log of its own. */
function sourceOf(script: string, to: 'stdout' | 'stderr' = 'stdout'): string {
  return `import { makeLog } from '${log}'; const { logger, flush } = makeLog('info', '${to}'); ${script}`;
}

/** The messages on a process's standard output and standard error, after it has run a script with a log of its own. */
async function logged(script: string, to: 'stdout' | 'stderr' = 'stdout'): Promise<readonly string[]> {
  const output = await run(process.execPath, [...evaluate, sourceOf(script, to)]);
  const lines = output[to].split('\n').slice(0, -1);
  return lines.map((line) => (JSON.parse(line) as { readonly msg: string }).msg);
}

const numbers = Array.from({ length: 500 }, (_, index) => String(index));

test('every line is written whole and in order, on either output', async (t) => {
  const script = `for (let n = 0; n < 500; n += 1) logger.info(String(n)); await flush(); process.exit(0);`;
  t.deepEqual(await logged(script), numbers);
  t.deepEqual(await logged(script, 'stderr'), numbers);
});

test('what was not flushed is written as the process ends, whichever way', async (t) => {
  t.deepEqual(await logged(`logger.info('last');`), ['last']);
  t.deepEqual(await logged(`logger.info('last'); process.exit(0);`), ['last']);
});

test('what is logged after the flush is written too', async (t) => {
  t.deepEqual(await logged(`logger.info('a'); await flush(); logger.info('b'); process.exit(0);`), [
    'a',
    'b',
  ]);
});

test('a line is written soon, also while nothing follows it', async (t) => {
  const child = spawn(process.execPath, [
    ...evaluate,
    sourceOf(`logger.info('a'); setInterval(() => 0, 1_000);`),
  ]);
  t.teardown(() => child.kill());
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  t.regex(line.toString(), /"msg":"a"\}\n$/);
});
