import test from 'ava';
import { readJsonInTurns } from '../../src/kit/read-in-turns.js';
import { makeSeededRandom } from '../support/fakes/clock.js';

/** More elements than the process reads in one piece. */
const many = `[${'0,'.repeat(1_100)}0]`;
const texts = ['a', '', 'é', '😀', '\u2028', '"\\\n', '\ud800', '__proto__', 'constructor', '\u0000'];
const marks = '[]{},:"\\0-1e.tfn u\u0001 ';

function outcomeOf(value: unknown): string {
  return JSON.stringify(value);
}

test('JSON of many elements is read as JSON.parse reads it, and refused where JSON.parse refuses it', async (t) => {
  const random = makeSeededRandom(7);
  const below = (count: number): number => Math.floor(random() * count);
  const anyValue = (depth: number): unknown => {
    const kind = below(depth === 0 ? 3 : 5);
    if (kind === 0) return [null, true, false, -5e-7, 0, 1e21][below(6)];
    if (kind === 1) return random() * 1e9;
    if (kind === 2) return texts[below(texts.length)];
    const values = Array.from({ length: below(6) }, () => anyValue(depth - 1));
    if (kind === 3) return values;
    return Object.fromEntries(values.map((value) => [texts[below(texts.length)] ?? '', value]));
  };
  let refused = 0;
  for (let round = 0; round < 600; round += 1) {
    let text = JSON.stringify(anyValue(4), null, below(2));
    if (round % 2 === 0) {
      const at = below(text.length);
      text = text.slice(0, at) + (marks[below(marks.length)] ?? '') + text.slice(at + below(2));
    }
    const bytes = Buffer.from(`[${many},${text}]`);
    let expected: string | null = null;
    try {
      expected = outcomeOf(JSON.parse(bytes.toString()));
    } catch {
      refused += 1;
    }
    t.is(await readJsonInTurns(bytes).then(outcomeOf, () => null), expected, text);
  }
  t.true(refused > 50 && refused < 300, `${refused} were refused`);
});

test('A long string, many spaces and deep nesting are read in pieces', async (t) => {
  const long = '\\u00e9\\n'.repeat(20_000);
  t.is(await readJsonInTurns(Buffer.from(`"${long}"`)), JSON.parse(`"${long}"`));
  t.is(await readJsonInTurns(Buffer.from(`${' '.repeat(100_000)}1\n`)), 1);
  const depth = 100_000;
  t.true(Array.isArray(await readJsonInTurns(Buffer.from('['.repeat(depth) + ']'.repeat(depth)))));
});

test('Bytes that are not UTF-8, an endless string and a number of more than 1,000 characters are refused', async (t) => {
  const bytes = [many, `"${'a'.repeat(70_000)}`, `[${many},${'1'.repeat(1_001)}]`].map((text) =>
    Buffer.from(text),
  );
  t.true(Array.isArray(await readJsonInTurns(bytes[0] ?? Buffer.alloc(0))));
  const broken = Buffer.concat([Buffer.alloc(70_000, 0x20), Buffer.from([0x22, 0xff, 0x22])]);
  for (const wrong of [...bytes.slice(1), broken]) await t.throwsAsync(readJsonInTurns(wrong));
});
