// Which test files there are, which kind of run each belongs to, and which of them reach a changed file.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { pageEntries, programEntries, verifierEntry } from './entries.mjs';

export const root = join(import.meta.dirname, '..');

const entries = { ...programEntries, ...pageEntries, ...verifierEntry };

/** The process tests that a newcomer would miss. They run in `npm test`. */
const firstProcesses = /^test\/end-to-end\/(cli|first-path|keys-file|shutdown)\./;
/** Tests that start programs, or servers that answer as EventStoreDB and MongoDB do. */
const processes = /^test\/(end-to-end\/|clients\/typescript-client\.|stores\/(eventstoredb|mongodb))/;

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
  return /^test\/servers\/(blips|many-processes|mongodb-faults|mongodb-load|start)\./.test(file);
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
  const imports = importGraph();
  const reachedFrom = new Map();
  for (const [file, targets] of imports) {
    for (const target of targets) reachedFrom.set(target, [...(reachedFrom.get(target) ?? []), file]);
  }
  const reaching = new Set(changed);
  for (const file of reaching) for (const from of reachedFrom.get(file) ?? []) reaching.add(from);
  const hasOthers = [...changed].some((file) => !imports.has(file));
  return files.filter((file) => reaching.has(file) || (hasOthers && /^test\/(docs\/|[^/]+$)/.test(file)));
}

/** Returns the files of this repository that each source or test imports when it runs, or starts from `dist`. */
export function importGraph() {
  const graph = new Map();
  for (const file of ['src', 'projections', 'test'].flatMap(listFiles)) {
    if (file.endsWith('.ts')) graph.set(file, importsOf(file));
    else if (file.endsWith('.json')) graph.set(file, []);
  }
  return graph;
}

function importsOf(file) {
  const text = readFileSync(join(root, file), 'utf8');
  const found = text.matchAll(
    /^(?:import|export|\})(?! type\b)[^'"\n]*?(?:\bfrom )?'(\.[^']+)'|\bimport\('(\.[^']+)'\)|new URL\('(\.[^']+)'/gm,
  );
  const imported = [...found].map(([, from, lazy, url]) =>
    posix.join(posix.dirname(file), from ?? lazy ?? url).replace(/\.js$/, '.ts'),
  );
  const built = [...text.matchAll(/'dist\/([\w/-]+)\.js'/g)].map(([, name]) => entries[name]);
  return [...imported, ...built].filter((target) => target !== undefined && existsSync(join(root, target)));
}

function listFiles(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.join(entry.parentPath.replaceAll('\\', '/').slice(root.length + 1), entry.name));
}
