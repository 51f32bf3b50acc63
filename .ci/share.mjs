// Runs server suites or deep tests within a share of the time, and names the files that this leaves out:
//   node .ci/share.mjs servers|deep <seconds> <seconds with repetitions>
// Each file runs in a separate process, two at a time. A file that fails is repeated once, alone. If it then passes, the run goes
// on and names its tests LOAD-SENSITIVE. The last line counts each file once, by its last run.
import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { clearTimeout, setTimeout } from 'node:timers';
import { measures } from '../scripts/test-files.mjs';
import { choose } from './choose.mjs';

const [kind, ...limits] = process.argv.slice(2);
const [share, whole] = limits.map(Number);
const began = performance.now();
const secondsLeft = (limit) => limit - (performance.now() - began) / 1_000;

/** A file that starts with less time would seldom end. */
const leastSeconds = 20;

const { chosen, others } = choose(kind);
if (kind === 'deep') process.env.DEEP_BUDGET ??= budgetFor(chosen.length);
console.log(`${chosen.length} of ${chosen.length + others.length} files in ${share} s`);

/**
 * The part of the attempts that the share has time for. Of a deep test, 6 s do not depend on the budget and 18 s are those of
 * budget 1: the average of all files on two cores, two at a time.
 */
function budgetFor(files) {
  const budget = process.env.CI_FULL === '1' ? 1 : (share / files - 6) / 18;
  return Math.min(1, Math.max(0.1, budget)).toFixed(2);
}

const running = new Set();
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    for (const { child } of running) kill(child, 'SIGKILL');
    process.exit(1);
  });
}

/** The last run of each file that ended, and the files that had no time. */
const runs = new Map();
const noTime = [];

await runAll([...chosen]);
const failed = [...runs].filter(([, run]) => !run.passed).map(([file]) => file);
let isFailure = false;
for (const file of failed) {
  const before = runs.get(file);
  console.log(`\n-- ${file} failed. It is repeated, alone.`);
  const { run } = start(file, whole);
  const again = await run;
  print(file, again);
  runs.set(file, again);
  // One failure that repeats refuses the change. The others keep their first report.
  if (!again.passed) {
    isFailure = true;
    again.counts[1] = Math.max(1, again.counts[1]);
    break;
  }
  for (const title of before.titles) console.log(`LOAD-SENSITIVE ${file} › ${title}`);
}
report();
process.exitCode = isFailure ? 1 : 0;

/** Starts files in their order while there is time, and waits until all have ended. */
async function runAll(queue) {
  const mayStart = () =>
    running.size === 0 ||
    (running.size === 1 && ![queue[0], ...[...running].map(({ file }) => file)].some(measures));
  while (queue.length > 0 || running.size > 0) {
    while (queue.length > 0 && secondsLeft(share) < leastSeconds) noTime.push(queue.shift());
    while (queue.length > 0 && mayStart()) running.add(start(queue.shift(), share));
    if (running.size === 0) continue;
    const ended = await Promise.race(
      [...running].map(({ run, ...rest }) => run.then((result) => ({ ...rest, result }))),
    );
    for (const one of running) if (one.file === ended.file) running.delete(one);
    print(ended.file, ended.result);
    // A file that was stopped before a test failed has proved nothing either way.
    if (ended.result.stopped && ended.result.counts[1] === 0) noTime.push(ended.file);
    else runs.set(ended.file, ended.result);
  }
}

/** Starts one file. Its run ends with the time limit at the latest, a number of seconds from the start of this program. */
function start(file, limit) {
  const began = performance.now();
  const child = spawn(process.execPath, ['scripts/test.mjs', kind, file], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  let stopped = false;
  let killing;
  const stopping = setTimeout(
    () => {
      stopped = true;
      kill(child, 'SIGTERM');
      killing = setTimeout(() => kill(child, 'SIGKILL'), 10_000);
    },
    Math.max(1, secondsLeft(limit)) * 1_000,
  );
  const run = new Promise((resolve, reject) => {
    child.on('error', reject);
    const end = (code) => {
      clearTimeout(stopping);
      clearTimeout(killing);
      const seconds = Math.round((performance.now() - began) / 1_000);
      resolve({ seconds, stopped, output, ...judge(code, stopped, output) });
    };
    child.on('close', end);
    // A program that outlives the tests may hold the output open.
    child.on('exit', (code) => setTimeout(end, 2_000, code));
  });
  return { file, child, run };
}

/** Reads the report of a file. A file in which no test ran proves nothing, so it has failed. */
function judge(code, stopped, output) {
  const titles = [...output.matchAll(/^FAILED \S+ › (.+)$/gm)].map(([, title]) => title);
  const closing = [...output.matchAll(/^(\d+) passed, (\d+) failed, (\d+) skipped$/gm)].at(-1);
  const counts = closing === undefined ? [0, titles.length, 0] : closing.slice(1).map(Number);
  const passed = code === 0 && !stopped && counts[0] + counts[2] > 0;
  if (!passed && !stopped) counts[1] = Math.max(1, counts[1]);
  return { passed, counts, titles: titles.length > 0 || passed ? titles : ['(the file as a whole)'] };
}

function print(file, { seconds, stopped, output }) {
  console.log(`\n-- ${file}: ${seconds} s${stopped ? ', then it was stopped' : ''}`);
  process.stdout.write(output.endsWith('\n') || output === '' ? output : `${output}\n`);
}

function kill({ pid }, signal) {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** Prints what did not run, and the closing line. */
function report() {
  console.log('');
  if (noTime.length > 0) console.log(`NOT RUN: ${kind}, no time was left: ${noTime.join(' ')}`);
  if (others.length > 0) console.log(`NOT RUN: ${kind}, the turn of another commit: ${others.join(' ')}`);
  const sum = (index) => [...runs.values()].reduce((total, { counts }) => total + counts[index], 0);
  console.log(`${sum(0)} passed, ${sum(1)} failed, ${sum(2)} skipped`);
}
