import { createHash, randomBytes } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { makeApiKey, parseApiKey } from '../../src/security/api-keys.js';
import { anyText } from '../support/any-text.js';
import { makeSeededRandom } from '../support/clock.js';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** CRC-32 bit by bit (ISO 3309), to compare with. */
function slowCrc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

test('the format is pinned: keys that customers hold stay valid', (t) => {
  const { key, digest, prefix, lastFour } = makeApiKey((size) =>
    Buffer.from(Array.from({ length: size }, (_, index) => index)),
  );
  const body = `stw_${alphabet.slice(0, 32)}`;
  t.is(key.slice(0, 36), body);
  const checksum = key.slice(36);
  t.is(checksum.length, 6);
  t.is(
    Array.from(checksum).reduce((sum, character) => sum * 62 + alphabet.indexOf(character), 0),
    slowCrc32(body),
  );
  t.is(digest, createHash('sha256').update(key).digest('hex'));
  t.is(prefix, 'stw_0123');
  t.is(lastFour, key.slice(-4));
});

test('a key that was made is read back as what was kept of it', (t) => {
  for (let index = 0; index < 100; index += 1) {
    const { key, ...kept } = makeApiKey(randomBytes);
    t.regex(key, /^stw_[0-9A-Za-z]{38}$/);
    t.deepEqual(parseApiKey(key), kept);
  }
});

test('every character is equally likely: chi-squared of 128,000', (t) => {
  const counts = new Map(Array.from(alphabet, (character) => [character, 0]));
  const keys = 4_000;
  const random = makeSeededRandom(5);
  const seededBytes = (size: number) =>
    Buffer.from(Array.from({ length: size }, () => Math.floor(random() * 256)));
  for (let index = 0; index < keys; index += 1) {
    for (const character of makeApiKey(seededBytes).key.slice(4, 36)) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
  }
  t.is(counts.size, 62);
  const expected = (keys * 32) / 62;
  const chiSquared = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  // 61 degrees of freedom: one seed in a hundred thousand passes this.
  t.true(chiSquared < 120, `${chiSquared}`);
});

test('a byte that would make some characters likelier is thrown away', (t) => {
  let calls = 0;
  const { key } = makeApiKey((size) => {
    calls += 1;
    return Buffer.alloc(size, calls === 1 ? 248 : 61);
  });
  t.is(key.slice(4, 36), 'z'.repeat(32));
});

test('a mistyped key is found out by its checksum: any one character changed, any two neighbours exchanged', (t) => {
  const { key } = makeApiKey(randomBytes);
  for (let at = 4; at < key.length; at += 1) {
    for (const character of alphabet) {
      const typed = key.slice(0, at) + character + key.slice(at + 1);
      if (typed !== key) t.is(parseApiKey(typed), null, typed);
    }
    const exchanged = key.slice(0, at) + (key[at + 1] ?? '') + (key[at] ?? '') + key.slice(at + 2);
    if (exchanged !== key) t.is(parseApiKey(exchanged), null, exchanged);
  }
});

test('what has not the form of a key is none', (t) => {
  const { key } = makeApiKey(randomBytes);
  const strange = ['', 'stw_', ` ${key}`, `${key} `, `${key}\n`, key.toUpperCase(), key.slice(4), `${key}0`];
  for (const text of strange) t.is(parseApiKey(text), null, text);
  fc.assert(fc.property(anyText({ maxLength: 60 }), (text) => parseApiKey(text) === null));
});
