// Runs tests: builds first, groups files that can share a process, and names each failure by its source.
//   test.mjs <kind> [file…]              test, processes, servers or deep: all files of the kind, or those that are named
//   test.mjs one <file> [part of title]  one file
//   test.mjs changed [commit]            the files of `npm test` that reach what differs from a commit (HEAD)
//   test.mjs watch                       the same after each change
//   test.mjs --list <kind> [--changed <commit>]   prints the files
import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, watch } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { filesOfKind, kindNames, kindOf, measures, reachingChanges, root } from './test-files.mjs';
import { writeGroups } from './test-groups.mjs';

const total = { passed: 0, failed: 0, skipped: 0 };
let isFailed = false;
// AVA's process reports at the same signal which tests have not ended, and this one prints it.
process.on('SIGTERM', () => (isFailed = true));

const [command, ...args] = process.argv.slice(2);

async function runOnce() {
  build();
  if (kindNames.includes(command))
    await runKind(command, args.length > 0 ? args.map(sourceOf) : filesOfKind(command));
  else if (command === 'changed')
    await runKind('test', reachingChanges(filesOfKind('test'), args[0] ?? 'HEAD'));
  else if (command === 'one' && args.length > 0) await runFile(sourceOf(args[0]), args[1]);
  else
    throw new Error(`unknown: test.mjs ${process.argv.slice(2).join(' ')}; see the head of scripts/test.mjs`);
  finish();
}

function build() {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs'), '--tests'], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}

function list([kind, option, commit]) {
  const files = filesOfKind(kind);
  for (const file of option === '--changed' ? reachingChanges(files, commit) : files) console.log(file);
}

/** Returns the source of a test file, which may be named by its compiled form or without the folder `test` and the ending. */
function sourceOf(name) {
  const path = name.replace(/^(\.\/)?(dist\/)?/, '').replace(/(\.test)?(\.[jt]s)?$/, '');
  const file = [`${path}.test.ts`, `test/${path}.test.ts`].find((one) => existsSync(join(root, one)));
  if (file === undefined) throw new Error(`there is no test file ${name}`);
  return file;
}

async function runKind(kind, files) {
  if (files.length === 0) console.log('No test file reaches the change.');
  else await runs[kind](files);
}

/** How the files of each kind run. */
const runs = {
  test: runGrouped,
  processes: runGrouped,
  servers: async (files) => {
    const apart = files.filter(measures);
    await ava(apart.map(compiledOf), { concurrency: 1 });
    // The others mostly wait, for limits of time and for processes that start.
    await ava(files.filter((file) => !apart.includes(file)).map(compiledOf), { concurrency: 2 });
  },
  deep: async (files) => {
    const { seed, budget, environment } = deepSettings();
    console.error(`Repeat this run with DEEP_SEED=${seed} DEEP_BUDGET=${budget} npm run test:deep`);
    // A machine without time for all files begins with others at each seed.
    const place = (file) =>
      createHash('sha256')
        .update(`${seed} ${file.split('/').at(-1)}`)
        .digest('hex');
    const ordered = files.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
    // Most campaigns start separate processes. Two at a time keep two cores busy without starving each other.
    await ava(ordered.map(compiledOf), { concurrency: 2, environment });
  },
};

/** All randomness of the long campaigns follows from DEEP_SEED. DEEP_BUDGET multiplies the number of attempts. */
function deepSettings() {
  const seed = process.env.DEEP_SEED || String(randomInt(2 ** 31));
  const budget = process.env.DEEP_BUDGET || '1';
  return { seed, budget, environment: { DEEP_SEED: seed, DEEP_BUDGET: budget } };
}

async function runFile(file, title) {
  const match = title === undefined ? [] : ['--match', `*${title}*`];
  const environment = kindOf(file) === 'deep' ? deepSettings().environment : {};
  await ava([compiledOf(file), ...match], { concurrency: 1, environment });
}

/** What AVA writes before the titles of a group. Readers look for the file and the title. */
// eslint-disable-next-line no-control-regex -- AVA colours the separator.
const groupPrefix = /\bgroup-[\w-]+ (?:\x1B\[\d+m)*[›>](?:\x1B\[\d+m)* /;

/** Lets files share processes. */
async function runGrouped(files) {
  // One file more than there are cores uses the waits.
  await ava(writeGroups(root, files), { concurrency: availableParallelism() + 1 });
}

function compiledOf(file) {
  return `dist/${file.replace(/\.ts$/, '.js')}`;
}

/** Runs AVA over compiled files, and adds its results to those of this command. */
async function ava(files, { concurrency, environment = {} }) {
  if (files.length === 0) return;
  // Several runs may go on at once.
  const folder = mkdtempSync(join(tmpdir(), 'stowage-report-'));
  const report = join(folder, 'report.json');
  const program = join(root, 'node_modules', 'ava', 'entrypoints', 'cli.mjs');
  const child = spawn(process.execPath, [program, '--concurrency', String(concurrency), ...files], {
    cwd: root,
    stdio: ['inherit', 'pipe', 'inherit'],
    env: {
      ...process.env,
      ...environment,
      TEST_REPORT: report,
      ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}),
    },
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (!line.includes('Experiments are enabled')) console.log(line.replace(groupPrefix, ''));
  });
  const [status] = await once(child, 'close');
  isFailed ||= status !== 0 || !existsSync(report);
  const text = existsSync(report) ? readFileSync(report, 'utf8') : '{}';
  rmSync(folder, { recursive: true });
  const { failures = [], stalled = [], stopped = [], ...counts } = JSON.parse(text);
  for (const name of Object.keys(total)) total[name] += counts[name] ?? 0;
  for (const failure of failures) console.log(`FAILED ${failure}`);
  for (const test of stalled) console.log(`STALLED ${test}`);
  for (const test of stopped) console.log(`STOPPED ${test}`);
}

function finish() {
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  process.exitCode = isFailed ? 1 : 0;
}

/** After each change, runs the tests that reach what differs from HEAD. A change during a run starts the next one. */
async function watchAndRun() {
  let isChanged = true;
  let wake = () => {};
  for (const folder of ['src', 'projections', 'test']) {
    watch(join(root, folder), { recursive: true }, () => {
      isChanged = true;
      wake();
    });
  }
  for (;;) {
    while (!isChanged) await new Promise((resolve) => (wake = resolve));
    // An editor writes several files at once.
    await wait(200);
    isChanged = false;
    const child = spawn(process.execPath, [import.meta.filename, 'changed'], { stdio: 'inherit' });
    await once(child, 'close');
    console.log('Waiting for a change.');
  }
}

if (command === '--list') list(args);
else if (command === 'watch') await watchAndRun();
else await runOnce();
