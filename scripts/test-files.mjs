// Which test files there are, which kind of run each belongs to, and which of them reach a changed file.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { pageEntries, programEntries, verifierEntry } from './entries.mjs';

export const root = join(import.meta.dirname, '..');

const entries = { ...programEntries, ...pageEntries, ...verifierEntry };

/** The process tests that a newcomer would miss. They run in `npm test`. */
const firstProcesses = /^test\/end-to-end\/(cli|first-path|keys-file|shutdown)\./;
/**
 * Tests that start programs, many threads or whole services on recorded data, or servers that answer as EventStoreDB and MongoDB do,
 * and the test that counts what the engine runs.
 */
const processes = new RegExp(
  String.raw`^test/(end-to-end/|clients/typescript-client\.|cli/completion\.|areas/audit/verify/verify-program\.|` +
    String.raw`composition/catch-up\.|stores/(eventstoredb|mongodb)|upgrades/|outside-readers\.)`,
);

/** The kinds of runs, and the files of each. */
const kinds = {
  test: (file) =>
    !/^test\/(deep|servers)\//.test(file) && (!processes.test(file) || firstProcesses.test(file)),
  processes: (file) => processes.test(file) && !firstProcesses.test(file),
  servers: (file) => file.startsWith('test/servers/'),
  deep: (file) => file.startsWith('test/deep/'),
};

export const kindNames = Object.keys(kinds);

/**
 * Returns whether a suite compares times, or counts on an answer within a second. Another suite beside it would change what it sees.
 */
export function measures(file) {
  return /^test\/servers\/(blips|frozen-disk|many-processes|mongodb-faults|mongodb-load|start)\./.test(file);
}

/** Returns the test files of a kind as paths from the root, sorted. */
export function filesOfKind(kind) {
  return listFiles('test')
    .filter((file) => file.endsWith('.test.ts') && kinds[kind](file))
    .sort();
}

/** Returns the kind of run that a test file belongs to. */
export function kindOf(file) {
  return kindNames.find((kind) => kinds[kind](file));
}

/**
 * Returns those of the test files that reach a file which differs from a commit, tracked or not, by imports. A file that no test
 * imports, such as a document or a setting of a tool, belongs to the tests in `test/docs` and at the top of `test`, which read files by name.
 */
export function reachingChanges(files, commit) {
  const git = (...args) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
  const changed = new Set([
    ...git('diff', '--name-only', commit),
    ...git('ls-files', '--others', '--exclude-standard'),
  ]);
  const graph = importGraph();
  const reachedFrom = new Map();
  for (const [file, { imports, starts }] of graph) {
    for (const target of [...imports, ...starts]) {
      reachedFrom.set(target, [...(reachedFrom.get(target) ?? []), file]);
    }
  }
  const reaching = new Set(changed);
  for (const file of reaching) for (const from of reachedFrom.get(file) ?? []) reaching.add(from);
  const hasOthers = [...changed].some((file) => !graph.has(file));
  return files.filter((file) => reaching.has(file) || (hasOthers && /^test\/(docs\/|[^/]+$)/.test(file)));
}

/** Returns the files of this repository that each source or test imports when it runs, and the entries of the bundles that it starts. */
export function importGraph() {
  const files = ['src', 'projections', 'test'].flatMap(listFiles);
  return new Map(
    files.map((file) => [file, file.endsWith('.ts') ? edgesOf(file) : { imports: [], starts: [] }]),
  );
}

function edgesOf(file) {
  const text = readFileSync(join(root, file), 'utf8').replace(/^(?:import|export) type [^;]*;$/gm, '');
  const found = text.matchAll(
    /^(?:import|export|\})[^'"\n]*?(?:\bfrom )?'(\.[^']+)'|\bimport\('(\.[^']+)'\)|new URL\('(\.[^']+)'/gm,
  );
  const imports = [...found].map(([, from, lazy, url]) =>
    posix.join(posix.dirname(file), from ?? lazy ?? url).replace(/\.js$/, '.ts'),
  );
  const starts = [...text.matchAll(/'dist\/([\w/-]+)\.js'/g)].map(([, name]) => entries[name]);
  const exists = (target) => target !== undefined && existsSync(join(root, target));
  return { imports: imports.filter(exists), starts: starts.filter(exists) };
}

function listFiles(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.join(entry.parentPath.replaceAll('\\', '/').slice(root.length + 1), entry.name));
}
