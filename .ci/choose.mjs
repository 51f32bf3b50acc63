// Chooses the test files that a run on this commit has time for. `node .ci/choose.mjs oldest` prints those for the oldest
// release line of Node, a line each.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';

const seed = process.env.DEEP_SEED ?? '1';
const all = process.env.CI_FULL === '1';

const lines = (command, ...args) =>
  execFileSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 26 })
    .split('\n')
    .filter((line) => line !== '');
const git = (...args) => lines('git', ...args);
const list = (kind, ...more) => lines(process.execPath, 'scripts/test.mjs', '--list', kind, ...more).sort();

/**
 * The tenth of a sorted list that this commit names, so that ten commits in a row name all of it. A shallow clone does not
 * know how many commits there are; there the seed names the tenth.
 */
function tenthOf(files) {
  const [isShallow] = git('rev-parse', '--is-shallow-repository');
  const number = Number(isShallow === 'true' ? seed : git('rev-list', '--count', 'HEAD')[0]);
  return files.filter((_, index) => index % 10 === number % 10);
}

/**
 * The files of a kind that reach what differs from the tenth commit before. Where the clone has fewer commits, from its
 * first one; a clone of one commit does not tell, so all count as changed.
 */
function changed(kind, files) {
  const commits = git('rev-list', '--first-parent', '--max-count=11', 'HEAD');
  return commits.length === 1 ? files : list(kind, '--changed', commits.at(-1));
}

/** The place of a file in the order of this seed. */
const place = (file) => createHash('sha256').update(`${seed} ${file}`).digest('hex');

/**
 * Chooses files of a kind (`servers` or `deep`), in the order in which they run. First come those of this commit's tenth, so
 * that also ten commits that change everything run everything; then the changed ones in an order by the seed.
 * @returns the chosen source files, and the others
 */
export function choose(kind) {
  const files = list(kind);
  if (all) return { chosen: files, others: [] };
  const first = tenthOf(files);
  const then = changed(kind, files)
    .filter((file) => files.includes(file) && !first.includes(file))
    .sort((a, b) => (place(a) < place(b) ? -1 : 1));
  const chosen = [...first, ...then];
  return { chosen, others: files.filter((file) => !chosen.includes(file)) };
}

/** The files of `npm test` in which a release line of Node shows most: stores, processes, and a tenth of the rest. */
function chooseForOldest() {
  const files = list('test');
  if (all) return files;
  const always = files.filter((file) => /^test\/(stores|end-to-end)\//.test(file));
  return [...always, ...tenthOf(files.filter((file) => !always.includes(file)))];
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[2] === 'oldest') {
  console.log(chooseForOldest().join('\n'));
}
