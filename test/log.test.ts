import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import test from 'ava';
import { lineForEyes } from '../src/log.js';
import { eventually } from './support/eventually.js';
import { givenDirectory } from './support/directories.js';

const run = promisify(execFile);
const log = new URL('../src/log.js', import.meta.url).href;
const evaluate = ['--input-type=module', '--eval'];

/** Returns a script that makes a log. */
function sourceOf(script: string, to: 'stdout' | 'stderr' = 'stdout', level = 'info'): string {
  return `import { makeLog } from '${log}'; const { logger, flush } = makeLog('${level}', '${to}'); ${script}`;
}

test('A line for a person has the time of the day, the level, the message and the fields, and moves no cursor', (t) => {
  const line = {
    level: 40,
    time: '2026-11-27T08:24:59.123Z',
    msg: 'not ready',
    port: 80,
    name: 'a b\u001b[2J\u202e',
  };
  t.is(
    lineForEyes(JSON.stringify(line)),
    '08:24:59.123 WARN  not ready port=80 name="a b\\u001b[2J\\u{202e}"\n',
  );
});

/** Runs a script with a log in a process. Returns the messages on its standard output or standard error. */
async function logged(script: string, to: 'stdout' | 'stderr' = 'stdout'): Promise<readonly string[]> {
  const output = await run(process.execPath, [...evaluate, sourceOf(script, to)]);
  const lines = output[to].split('\n').slice(0, -1);
  return lines.map((line) => (JSON.parse(line) as { readonly msg: string }).msg);
}

const numbers = Array.from({ length: 500 }, (_, index) => String(index));

test('Every line is written whole and in order, on either output', async (t) => {
  const script = `for (let n = 0; n < 500; n += 1) logger.info(String(n)); await flush(); process.exit(0);`;
  t.deepEqual(await logged(script), numbers);
  t.deepEqual(await logged(script, 'stderr'), numbers);
});

test('Lines without a flush are written at the end of the process, with and without exit', async (t) => {
  t.deepEqual(await logged(`logger.info('last');`), ['last']);
  t.deepEqual(await logged(`logger.info('last'); process.exit(0);`), ['last']);
});

test('Lines after the flush are written too', async (t) => {
  t.deepEqual(await logged(`logger.info('a'); await flush(); logger.info('b'); process.exit(0);`), [
    'a',
    'b',
  ]);
});

test('A line is written soon even if no line follows', async (t) => {
  const child = spawn(process.execPath, [
    ...evaluate,
    sourceOf(`logger.info('a'); setInterval(() => 0, 1_000);`),
  ]);
  t.teardown(() => child.kill());
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  t.regex(line.toString(), /"msg":"a"\}\n$/);
});

/** Runs a script in a shell whose `$NODE` is the command that runs it. Returns standard error and the exit code. */
async function inShell(
  command: string,
  script: string,
): Promise<{ readonly stderr: string; readonly code: number | null }> {
  const child = spawn('bash', ['-c', command + '; exit "${PIPESTATUS[0]}"'], {
    env: { ...process.env, NODE: process.execPath, SCRIPT: sourceOf(script) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.resume();
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { stderr, code };
}

const runScript = '"$NODE" --input-type=module --eval "$SCRIPT"';

test('A file gets every line whole and in order, also at the end of a process that does not flush', async (t) => {
  const directory = givenDirectory(t);
  const file = join(directory, 'log');
  const script = `for (let n = 0; n < 500; n += 1) logger.info(String(n)); await flush(); logger.info('a'); logger.info('b');`;
  for (const end of ['', 'process.exit(0);']) {
    const target = openSync(file, 'w');
    const child = spawn(process.execPath, [...evaluate, sourceOf(script + end)], {
      stdio: ['ignore', target, 'inherit'],
    });
    await once(child, 'close');
    closeSync(target);
    const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
    const messages = lines.map((line) => (JSON.parse(line) as { readonly msg: string }).msg);
    // The write that runs in the background and the last one may change places.
    t.deepEqual(messages.slice(0, 500), numbers);
    t.deepEqual(messages.slice(500).toSorted(), ['a', 'b']);
  }
});

test('A full disk under the log loses lines and does not end the process', async (t) => {
  const script = `logger.info('lost'); setTimeout(() => { logger.info('lost'); process.stderr.write('alive'); }, 700);`;
  t.deepEqual(await inShell(`${runScript} > /dev/full`, script), { stderr: 'alive', code: 0 });
});

test('A log whose reader has gone loses lines and does not end the process', async (t) => {
  const script = `setTimeout(() => logger.info('lost'), 200); setTimeout(() => { logger.info('lost'); process.stderr.write('alive'); }, 900);`;
  t.deepEqual(await inShell(`${runScript} | true`, script), { stderr: 'alive', code: 0 });
});

test('A reader of the log that stalls does not keep the process from ending', async (t) => {
  // Given a reader that never reads, and more lines than its pipe holds
  const script = `for (let n = 0; n < 5000; n += 1) logger.info('x'.repeat(100)); await flush(); process.stderr.write('flushed'); process.exit(3);`;
  const child = spawn(process.execPath, [...evaluate, sourceOf(script)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  // When the process ends, then nothing waits for the reader
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  // The exit may be told before the last bytes of stderr. Node reads the rest of the pipes after it.
  const [code] = (await once(child, 'close')) as [number | null];
  t.is(code, 3);
  t.is(stderr, 'flushed');
});

test('A log that takes lines again after a stall tells how many were lost', async (t) => {
  // Given a reader that does not read yet, and lines beyond the pipe and the lines that may wait
  const script = `for (let n = 0; n < 20000; n += 1) logger.info(String(n).padStart(100));
    process.stderr.write('written'); setTimeout(() => 0, 60_000);`;
  const child = spawn(process.execPath, [...evaluate, sourceOf(script)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child.stderr, 'data');
  // When it reads, then the lines and the count of the lost ones make up all of them
  let [written, lost] = [0, 0];
  for await (const line of createInterface(child.stdout)) {
    const entry = JSON.parse(line) as { readonly lost?: number };
    if (entry.lost === undefined) written += 1;
    else lost += entry.lost;
    if (written + lost >= 20_000) break;
  }
  t.is(written + lost, 20_000);
  t.true(lost > 0);
});

for (const level of ['info', 'fatal'])
  test(`A file that takes lines again gets the count of the lost ones on a line, at the level ${level}`, async (t) => {
    // Given a log that has reached the limit of its file in the middle of a line
    const directory = givenDirectory(t);
    const file = join(directory, 'log');
    const script = `for (let n = 0; n < 100; n += 1) logger.fatal('x'.repeat(100));
    setTimeout(() => process.stderr.write('written'), 700); setTimeout(() => 0, 60_000);`;
    const child = spawn('bash', ['-c', `ulimit -f 4; exec ${runScript} >> "$FILE"`], {
      env: { ...process.env, NODE: process.execPath, SCRIPT: sourceOf(script, 'stdout', level), FILE: file },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    t.teardown(() => child.kill('SIGKILL'));
    await once(child.stderr, 'data');
    // When the file has room again
    await truncate(file);
    const text = await eventually('a whole line', async () => {
      const found = await readFile(file, 'utf8');
      return found.endsWith('\n') && found.trim() !== '' && found;
    });
    // Then the next line tells of all the lines before it
    t.is((JSON.parse(text.trim()) as { readonly lost?: number }).lost, 100);
  });
