import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const folder = fileURLToPath(new URL('../../docs/decisions/', import.meta.url));
const read = (file: string): string => readFileSync(`${folder}${file}`, 'utf8');
// A file by number waits to become a section and a row.
const records = readdirSync(folder).filter((file) => /^[a-z]/.test(file));

/** A section of a record, as `<number> <file>`. A heading of another form is one without a number. */
const sections = records.flatMap((file) =>
  [...read(file).matchAll(/^##+ (.*)$/gm)].map(
    ([, heading = '']) => `${/^\d{4}(?= )/.exec(heading)?.[0] ?? heading} ${file}`,
  ),
);
const rows = read('README.md')
  .split('\n')
  .filter((line) => /^\|.*\d/.test(line))
  .map((line) => {
    const [number = '', area = '', sentence = '', successor = ''] = line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim());
    // The area of a decision in force links its record.
    return {
      number,
      area: area.replace(/^\[(.*)\]$/, '$1'),
      isLinked: area.startsWith('['),
      sentence,
      successor,
    };
  });
const numbers = rows.map(({ number }) => number);

test('Every section of a record has a row that links it, and every link has its section', (t) => {
  const linked = rows.filter(({ isLinked }) => isLinked).map(({ number, area }) => `${number} ${area}.md`);
  t.true(records.length > 20, 'the walk finds the records');
  t.deepEqual(linked.toSorted(), sections.toSorted());
  const targets = [...read('README.md').matchAll(/^\[([a-z-]+)\]: (.+)$/gm)].map(([, , file]) => file);
  t.deepEqual(targets, records.toSorted(), 'each link has its target');
});

test('Every decision has one row with a sentence, in the order of the numbers', (t) => {
  t.deepEqual(numbers, [...new Set(numbers)].toSorted());
  t.deepEqual(
    rows.filter(({ area, sentence }) => !records.includes(`${area}.md`) || !/^[A-Z].* .*\w$/.test(sentence)),
    [],
  );
});

test('A row without a section names the decision that replaced it', (t) => {
  const inForce = new Set(sections.map((section) => section.slice(0, 4)));
  const wrong = rows.filter((row) => (row.isLinked ? row.successor !== '' : !inForce.has(row.successor)));
  t.deepEqual(wrong, []);
});
