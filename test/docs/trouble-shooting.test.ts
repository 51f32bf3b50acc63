import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { clone, read } from './documents.js';

/* docs/trouble-shooting.md#alerts and docs/trouble-shooting.md#errors-of-the-log have a row for each, and no other. */

const page = read('docs/trouble-shooting.md');

function rowsOf(heading: string): readonly string[] {
  const [, section = ''] = new RegExp(`^## ${heading}$(.*?)(?=^## |$(?![^]))`, 'ms').exec(page) ?? [];
  return [...section.matchAll(/^\| `([^`]+)` +\| ([^|]*[a-z][^|]*) \| ([^|]*[a-z][^|]*) \|$/gm)].map(
    ([, name = '']) => name,
  );
}

/** Returns the text between a bracket at a place and the one that closes it. */
function bracketed(text: string, from: number): string {
  for (let at = from, depth = 0; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1;
    if (text[at] === ')') depth -= 1;
    if (depth === 0) return text.slice(from + 1, at);
  }
  throw new Error('a bracket is not closed');
}

/** Returns the messages that a file logs as errors, at a level that it chooses, or by `noteRetry`. @throws Error for one that is no constant */
function errorsLoggedIn(file: string): readonly string[] {
  // `noteRetry` writes what its callers say.
  const text = read(file).replace('logger[level]({ ...fields, error: sentenceOf(error) }, sentence)', '');
  return [...text.matchAll(/\b(?:logger(?:\.(?:error|fatal)|\[[^\]]+\])|noteRetry)(?=\()/g)].map((match) => {
    const call = bracketed(text, match.index + match[0].length);
    const message = match[0] === 'noteRetry' ? /^\s*(?:'([^']+)'|(\w+))/ : /(?:'([^']+)'|\b(\w+)),?\s*$/;
    const [, literal, name = ''] = message.exec(call) ?? [];
    const said = literal ?? new RegExp(`const ${name} = '([^']+)'`).exec(text)?.[1];
    if (said === undefined) throw new Error(`${file} logs an error whose message is no constant: ${call}`);
    return said;
  });
}

test('The page trouble-shooting.md has each alert, what it means and what to do', (t) => {
  const alerts = [...read('deploy/prometheus/alerts.yml').matchAll(/- alert: (\w+)/g)].map(
    ([, name]) => name,
  );
  t.true(alerts.length > 0);
  t.deepEqual([...rowsOf('Alerts')].sort(), alerts.sort());
});

test('The page trouble-shooting.md has each error of the log, what it means and what to do', (t) => {
  const files = readdirSync(join(clone, 'src'), { recursive: true, encoding: 'utf8' });
  const logged = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => errorsLoggedIn(`src/${file}`));
  t.true(logged.length > 0);
  t.deepEqual([...rowsOf('Errors of the log')].sort(), [...new Set(logged)].sort());
});
