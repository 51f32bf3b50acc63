import { randomBytes } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { makeDigests } from '../../src/keys/digests.js';
import { makeRecoveryCodes, parseRecoveryCode } from '../../src/security/recovery-codes.js';

test('ten codes of 50 bits, grouped for reading, without letters that are taken for others', (t) => {
  const codes = makeRecoveryCodes(randomBytes);
  t.is(codes.length, 10);
  t.is(new Set(codes).size, 10);
  for (const code of codes) t.regex(code, /^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/);
  let next = 0;
  const counted = makeRecoveryCodes((size) => Buffer.from(Array.from({ length: size }, () => next++)));
  t.is(counted.slice(0, 4).join(), '01234-56789,ABCDE-FGHJK,MNPQR-STVWX,YZ012-34567');
});

test('a code is recognised however it was written down and typed', (t) => {
  const spellings = [
    '10AB0-1Z9XY',
    '10ab0-1z9xy',
    'loABo-iz9xy',
    'LOabO-Iz9xy',
    ' 10ab 01z9 xy\n',
    '10AB0–1Z9XY',
    '1-0-A-B-0-1-Z-9-X-Y',
    '10AB01Z9XY',
  ];
  for (const typed of spellings) t.is(parseRecoveryCode(typed), '10AB01Z9XY', typed);
});

test('what is no code is told apart from it', (t) => {
  for (const typed of ['', '-', '10AB0-1Z9X', '10AB0-1Z9XYZ', '10AB0-1Z9XU', '10AB0_1Z9XY', '１0AB0-1Z9XY']) {
    t.is(parseRecoveryCode(typed), null, typed);
  }
});

test('whatever is typed, its spelling is its own, and made codes survive separators and case', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (typed) => {
      const code = parseRecoveryCode(typed);
      return code === null || parseRecoveryCode(code) === code;
    }),
  );
  for (const code of makeRecoveryCodes(randomBytes)) {
    t.is(
      parseRecoveryCode(code.toLowerCase().replaceAll('0', 'o').replaceAll('1', 'l')),
      code.replace('-', ''),
    );
  }
});

test('what is kept of a code is keyed, and bound to its user', (t) => {
  const digests = makeDigests(Buffer.alloc(32, 1));
  const digest = digests.recoveryCode('u1', '10AB01Z9XY');
  t.regex(digest, /^[0-9a-f]{64}$/);
  const others = [
    digests.recoveryCode('u2', '10AB01Z9XY'),
    digests.recoveryCode('u1', '10AB01Z9XZ'),
    digests.recoveryCode('u1","10AB0', '1Z9XY'),
    makeDigests(Buffer.alloc(32, 2)).recoveryCode('u1', '10AB01Z9XY'),
  ];
  t.is(new Set([digest, ...others]).size, 5);
});
