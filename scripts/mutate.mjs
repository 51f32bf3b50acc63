// Measures what the tests notice: `npm run mutate -- [n] [seed] [--from k] [--jobs j]` draws n mutants of `src` and `projections`,
// runs the tests that reach each of them, nearest first, and prints those that no test fails for. A survivor shows a rule
// without a test, or a change that changes no behaviour. The seed is the first eight digits of HEAD unless it is given, and
// `1 <seed> --from 17` repeats the seventeenth mutant. It works in a copy; the campaigns and the suites against servers do not run.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { describeMutant, drawMutants, mutate } from './mutations.mjs';
import { readTestGraph } from './test-graph.mjs';
import { writeGroups } from './test-groups.mjs';

const root = join(import.meta.dirname, '..');
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    from: { type: 'string', default: '1' },
    jobs: { type: 'string', default: String(availableParallelism()) },
  },
});
const [
  count = '100',
  seed = execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { cwd: root }).toString().trim(),
] = positionals;

/** Numbers of test files, nearest first: most mutants die in the first step. The last step runs all the others. */
const steps = [4, 16, Infinity];
/** From so many files on, several share a process: to start one costs more than most files. */
const groupedFrom = 5;
/** A run in which no test ends for so long counts as endless. */
const endlessMs = 180_000;

/** What the copy has as files; the rest are links. */
const copied = ['dist', 'src', 'projections', 'scripts'];
/** What the mutated program may replace in `dist`. */
const isOfProgram = (name) => name.endsWith('.js') || ['chunks', 'pages', 'program.digest'].includes(name);

const copy = mkdtempSync(join(tmpdir(), 'stowage-mutants-'));
let running;
process.on('exit', () => {
  if (running !== undefined) end(running);
  rmSync(copy, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

for (const name of readdirSync(root)) {
  if (copied.includes(name)) cpSync(join(root, name), join(copy, name), { recursive: true });
  else if (name !== '.git') symlinkSync(join(root, name), join(copy, name));
}
const program = readdirSync(join(copy, 'dist')).filter(isOfProgram);
for (const name of program)
  cpSync(join(copy, 'dist', name), join(copy, 'program', name), { recursive: true });

const sources = new Map(
  ['src', 'projections']
    .flatMap((folder) =>
      readdirSync(join(copy, folder), { recursive: true }).map((file) => `${folder}/${file}`),
    )
    .filter((file) => file.endsWith('.ts') && !file.includes('/browser/'))
    .sort()
    .map((file) => [file, readFileSync(join(copy, file), 'utf8')]),
);
const graph = readTestGraph();

/** Whether each test file passes on the unchanged code. One that fails there proves nothing. */
const passesUnchanged = new Map();
const survivors = [];
let killed = 0;
let number = Number(values.from) - 1;
console.log(`Seed ${seed}: ${count} mutants from number ${values.from}`);
const mutants = drawMutants([...sources], seed);
for (; killed + survivors.length < Number(count) && number < mutants.length; number += 1) {
  const mutant = mutants[number];
  const text = describeMutant(sources.get(mutant.file), mutant);
  const title = `${number + 1}  ${mutant.file}:${text.line}`;
  const outcome = await judge(mutant);
  if (outcome.kind === 'killed') killed += 1;
  if (outcome.kind === 'survived') survivors.push({ ...text, title });
  console.log(`${outcome.kind.padEnd(9)}${title}  ${outcome.by}`);
}
console.log(
  `\nSeed ${seed}: ${killed} of ${killed + survivors.length} mutants killed, ${survivors.length} survived`,
);
for (const { title, before, after } of survivors) console.log(`\n${title}\n- ${before}\n+ ${after}`);
const failing = [...passesUnchanged].filter(([, passes]) => !passes).map(([file]) => file);
if (failing.length > 0)
  console.log(`\nThese fail on the unchanged code, and did not count: ${failing.join(', ')}`);

/** Returns whether a mutant is killed, survives, or is skipped, and by what. */
async function judge(mutant) {
  const tests = graph.testsOf(mutant.file);
  const isChanged = await compile(mutant.file, mutate(sources.get(mutant.file), mutant));
  await compile(mutant.file, sources.get(mutant.file));
  if (!isChanged) return { kind: 'skipped', by: 'the compiled code is the same' };
  let from = 0;
  for (const size of steps) {
    const step = tests.slice(from, (from += size));
    const starts = step.some(({ startsIt }) => startsIt);
    let result = await tryWith(mutant, step, starts);
    // A failure counts only in files that pass on the unchanged code.
    if (!result.passed && !(await verify(result.files))) result = await tryWith(mutant, step, starts);
    if (!result.passed) return { kind: 'killed', by: result.by };
  }
  return { kind: 'survived', by: `${Math.min(from, tests.length)} of ${tests.length} test files` };
}

/** Applies a mutant to the copy, runs the test files that may prove something, and takes it back. */
async function tryWith(mutant, step, starts) {
  const files = step.map(({ test }) => test).filter((test) => passesUnchanged.get(test) !== false);
  if (files.length === 0) return { passed: true, files };
  await compile(mutant.file, mutate(sources.get(mutant.file), mutant));
  // The build of the copy, because its sources differ. It takes seconds, so only tests that start the program pay for it.
  if (starts) execFileSync(process.execPath, [join(copy, 'scripts/build.mjs')], { cwd: copy });
  const result = await run(files);
  await compile(mutant.file, sources.get(mutant.file));
  if (starts)
    for (const name of program)
      cpSync(join(copy, 'program', name), join(copy, 'dist', name), { recursive: true });
  return { ...result, files };
}

/** Writes a source and its module. Returns whether the module differs from the one before; false when it does not compile. */
async function compile(file, source) {
  const module = join(copy, 'dist', file.replace(/\.ts$/, '.js'));
  const before = readFileSync(module, 'utf8');
  writeFileSync(join(copy, file), source);
  const options = {
    format: 'esm',
    target: 'node20.19',
    platform: 'node',
    sourcemap: true,
    logLevel: 'silent',
  };
  try {
    await build({ ...options, absWorkingDir: copy, entryPoints: [file], outbase: '.', outdir: 'dist' });
  } catch {
    return false;
  }
  return readFileSync(module, 'utf8') !== before;
}

/** Runs files on the unchanged code, and the halves of a failing run. Returns whether all pass. */
async function verify(tests) {
  const unknown = tests.filter((test) => !passesUnchanged.has(test));
  if (unknown.length === 0) return true;
  const { passed } = await run(unknown);
  if (passed || unknown.length === 1) for (const test of unknown) passesUnchanged.set(test, passed);
  else for (const half of halves(unknown)) await verify(half);
  return tests.every((test) => passesUnchanged.get(test));
}

function halves(files) {
  const middle = Math.ceil(files.length / 2);
  return [files.slice(0, middle), files.slice(middle)];
}

/** Runs test files until the first failure. Returns whether all passed, and the first failure. */
function run(tests) {
  const ava = join(copy, 'node_modules/ava/entrypoints/cli.mjs');
  const files =
    tests.length < groupedFrom
      ? tests.map((test) => `dist/${test.replace(/\.ts$/, '.js')}`)
      : writeGroups(copy, tests);
  // The limit is the one of this run, so AVA has none.
  const args = [ava, '--fail-fast', '--no-color', '--timeout=10h', '--concurrency', values.jobs, ...files];
  running = spawn(process.execPath, args, { cwd: copy, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const child = running;
  let output = '';
  let isLate = false;
  return new Promise((resolve) => {
    const limit = setTimeout(() => {
      isLate = true;
      end(child);
    }, endlessMs);
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes) => {
        output += bytes;
        limit.refresh();
      });
    child.on('exit', (code) => {
      clearTimeout(limit);
      // A test that ends early leaves the processes that it has started.
      end(child);
      running = undefined;
      const first = /✘.*|Uncaught exception.*|Unhandled rejection.*|Failed to exit.*|✖.*/.exec(output)?.[0];
      const by = isLate ? `no test ended within ${endlessMs / 1_000} s` : (first ?? `status ${code}`);
      resolve({ passed: code === 0, by });
    });
  });
}

/** Ends a process with all that it has started. */
function end({ pid }) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
