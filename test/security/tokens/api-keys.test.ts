import { createHash, randomBytes } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { makeApiKey, parseApiKey } from '../../../src/security/tokens/api-keys.js';
import { anyText } from '../../support/examples/any-text.js';
import { makeSeededRandom } from '../../support/fakes/clock.js';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Computes a CRC-32 bit by bit (ISO 3309) for comparison. */
function slowCrc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

test('The format of a key is pinned, so the keys of customers stay valid', (t) => {
  const { key, digest, prefix, last_four } = makeApiKey((size) =>
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
  t.is(last_four, key.slice(-4));
});

test('A new key parses to the values that the service keeps of it', (t) => {
  for (let index = 0; index < 100; index += 1) {
    const { key, ...kept } = makeApiKey(randomBytes);
    t.regex(key, /^stw_[0-9A-Za-z]{38}$/);
    t.deepEqual(parseApiKey(key), kept);
  }
});

test('Every character is equally likely, by chi-squared of 128,000 characters', (t) => {
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
  // There are 61 degrees of freedom. One seed in a hundred thousand exceeds this value.
  t.true(chiSquared < 120, `${chiSquared}`);
});

test('A byte that would make some characters likelier is discarded', (t) => {
  let calls = 0;
  const { key } = makeApiKey((size) => {
    calls += 1;
    return Buffer.alloc(size, calls === 1 ? 248 : 61);
  });
  t.is(key.slice(4, 36), 'z'.repeat(32));
});

test('The checksum finds one changed character and two exchanged neighbours', (t) => {
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

test('A text in another format is no key', (t) => {
  const { key } = makeApiKey(randomBytes);
  const strange = ['', 'stw_', ` ${key}`, `${key} `, `${key}\n`, key.toUpperCase(), key.slice(4), `${key}0`];
  for (const text of strange) t.is(parseApiKey(text), null, text);
  fc.assert(fc.property(anyText({ maxLength: 60 }), (text) => parseApiKey(text) === null));
});
