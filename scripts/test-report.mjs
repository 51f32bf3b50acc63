// Collects the results of one run of AVA, and says of each failure in which file and line of the sources it is.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');

/**
 * Follows the events of AVA (`observeRun` of its configuration). When the run ends, writes the report to the file that
 * TEST_REPORT names: counts, failures, the tests that waited when no test had ended
 * for too long, and those that had not ended when the run was stopped.
 */
export async function observeRun({ events }) {
  const report = emptyReport();
  const file = process.env.TEST_REPORT;
  if (file === undefined) return;
  process.on('exit', () => writeFileSync(file, JSON.stringify(report)));
  const pendingTests = new Map();
  process.on('SIGTERM', () => {
    addEvent(report, { type: 'stop', pendingTests });
    process.exit(1);
  });
  for await (const event of events) {
    follow(pendingTests, event);
    addEvent(report, event);
  }
}

/** The lists have a line for each test: `<file>:<line> › <title>`. A run that is stopped has proved nothing of `stopped`. */
export function emptyReport() {
  return { passed: 0, failed: 0, skipped: 0, failures: [], stalled: [], stopped: [] };
}

/** Keeps the titles of the tests that have not ended, by file. */
function follow(pendingTests, { type, testFile, title, skip, todo }) {
  if (type === 'selected-test' && !skip && !todo)
    pendingTests.set(testFile, (pendingTests.get(testFile) ?? new Set()).add(title));
  if (type === 'test-passed' || type === 'test-failed') pendingTests.get(testFile)?.delete(title);
}

/** Adds an event of AVA to a report. `sources` returns the sources of a compiled test file. */
export function addEvent(report, event, sources = sourcesOf) {
  const placeOf = (testFile, title, stack) => placeIn(sources(testFile), title, stack);
  if (event.type === 'test-passed') report.passed += 1;
  if (event.type === 'selected-test' && (event.skip || event.todo)) report.skipped += 1;
  if (event.type === 'timeout' || event.type === 'stop') {
    const list = event.type === 'timeout' ? report.stalled : report.stopped;
    for (const [testFile, titles] of event.pendingTests) {
      for (const title of titles) list.push(`${placeOf(testFile, title)} › ${title}`);
    }
  }
  if (failing.has(event.type)) {
    const title = event.title ?? event.type.replaceAll('-', ' ');
    const place =
      event.testFile === undefined ? 'the run' : placeOf(event.testFile, event.title, stackOf(event.err));
    report.failures.push(`${place} › ${title}`);
  }
  report.failed = report.failures.length + report.stalled.length;
}

const failing = new Set([
  'test-failed',
  'hook-failed',
  'uncaught-exception',
  'unhandled-rejection',
  'worker-failed',
  'internal-error',
]);

function stackOf(error) {
  return [error?.stack, error?.cause?.stack, ...(error?.errors ?? []).map(stackOf)]
    .filter(Boolean)
    .join('\n');
}

/** Returns the test file and line of a failure: the first one in the stack, else that of the title in the files, else the files. */
function placeIn(files, title, stack = '') {
  for (const [, file, line] of stack.matchAll(/(test\/[\w./-]+\.test)\.[jt]s:(\d+)/g)) {
    if (files.includes(`${file}.ts`)) return `${file}.ts:${line}`;
  }
  for (const file of title === undefined ? [] : files) {
    const line = lineOf(readFileSync(join(root, file), 'utf8'), title);
    if (line !== null) return `${file}:${line}`;
  }
  return files.join(', ');
}

/** Returns the sources of a compiled test file, or of the files that a group imports. */
function sourcesOf(testFile) {
  const path = relative(root, testFile).replaceAll('\\', '/');
  if (!path.startsWith('dist/groups/')) return [path.replace(/^dist\//, '').replace(/\.js$/, '.ts')];
  return [...readFileSync(testFile, 'utf8').matchAll(/'\.\.\/(test\/[^']+)\.js'/g)].map(
    ([, file]) => `${file}.ts`,
  );
}

/** Finds a title in a source, also one that the source makes with a template: its constant parts follow each other in the title. */
function lineOf(text, title) {
  const at = text.indexOf(title.replaceAll("'", String.raw`\'`)) + 1 || text.indexOf(title) + 1;
  if (at > 0) return lineAt(text, at);
  for (const { 1: template, index } of text.matchAll(/`([^`\n]*\$\{[^`\n]*)`/g)) {
    const parts = template
      .split(/\$\{[^}]*\}/)
      .map((part) => part.replace(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`));
    if (parts.join('').length > 8 && new RegExp(`^${parts.join('.*')}$`).test(title))
      return lineAt(text, index);
  }
  return null;
}

function lineAt(text, index) {
  return text.slice(0, index).split('\n').length;
}
