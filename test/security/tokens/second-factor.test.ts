import { randomBytes } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { Secret, URI } from 'otpauth';
import {
  makeRecoveryCodes,
  makeTotpSecret,
  matchTotpStep,
  parseRecoveryCode,
  totpUrl,
} from '../../../src/security/tokens/totp.js';
import { makeDigests } from '../../../src/keys/sealing/digests.js';
import { anyText } from '../../support/examples/any-text.js';

/** RFC 6238, appendix B, SHA-1. The last six of its eight digits are the six-digit code. */
const rfcSecret = Secret.fromLatin1('12345678901234567890').base32;
const vectors = [
  { seconds: 59, code: '94287082' },
  { seconds: 1_111_111_109, code: '07081804' },
  { seconds: 1_111_111_111, code: '14050471' },
  { seconds: 1_234_567_890, code: '89005924' },
  { seconds: 2_000_000_000, code: '69279037' },
  { seconds: 20_000_000_000, code: '65353130' },
];
const at = (seconds: number) => new Date(seconds * 1_000);

test('Each published code of RFC 6238, appendix B, matches the step of its time', (t) => {
  for (const { seconds, code } of vectors) {
    t.is(matchTotpStep(rfcSecret, code.slice(2), at(seconds)), Math.floor(seconds / 30), code);
  }
});

test('A code is accepted one step early and one step late, and names its own step', (t) => {
  const step = 41_152_263;
  const code = '005924';
  const start = step * 30;
  t.is(matchTotpStep(rfcSecret, code, at(start - 30)), step, 'the earliest moment');
  t.is(matchTotpStep(rfcSecret, code, at(start - 30.001)), null);
  t.is(matchTotpStep(rfcSecret, code, at(start + 59.999)), step, 'the last moment');
  t.is(matchTotpStep(rfcSecret, code, at(start + 60)), null);
});

test('Six digits match as people type them, and no other text matches', (t) => {
  const now = at(1_234_567_890);
  for (const code of [
    '005924',
    '005 924',
    '005-924',
    '005\u2013924',
    '\u200b005924\n',
    '\uff10\uff10\uff15\uff19\uff12\uff14',
    '\u202a005924\u202c',
  ])
    t.not(matchTotpStep(rfcSecret, code, now), null, JSON.stringify(code));
  const wrong = ['', '5924', '05924', '0005924', '89005924', '+05924', '5924.0', '005.924', '٠٠٥٩٢٤'];
  for (const code of wrong) t.is(matchTotpStep(rfcSecret, code, now), null, JSON.stringify(code));
});

test('A code that two steps of the window share names the later step, so its use also uses up the earlier step', (t) => {
  // A search found these: steps 40,628,458 and the next one, and 40,515,428 and the second one after it.
  for (const [step, apart, code] of [
    [40_628_458, 1, '669470'],
    [40_515_428, 2, '259026'],
  ] as const) {
    t.is(matchTotpStep(rfcSecret, code, at(step * 30 - 30)), step, 'only the earlier step is in the window');
    t.is(matchTotpStep(rfcSecret, code, at((step + 1) * 30)), step + apart);
  }
});

test('A secret has 160 bits and is new each time, and its URL contains every parameter of an app', (t) => {
  const secret = makeTotpSecret(randomBytes);
  t.regex(secret, /^[A-Z2-7]{32}$/);
  t.not(makeTotpSecret(randomBytes), secret);
  t.is(
    makeTotpSecret((size) => Buffer.alloc(size, 0xff)),
    '7'.repeat(32),
  );
  t.is(
    totpUrl({ secret, address: 'ada+x@example.com' }),
    `otpauth://totp/Stowage:ada%2Bx%40example.com?issuer=Stowage&secret=${secret}&algorithm=SHA1&digits=6&period=30`,
  );
});

test('An address of any text reads back from the URL, and no part of it becomes a parameter', (t) => {
  const secret = makeTotpSecret(randomBytes);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (address) => {
      const url = new URL(totpUrl({ secret, address }));
      t.deepEqual([...url.searchParams.keys()], ['issuer', 'secret', 'algorithm', 'digits', 'period']);
      t.is(url.searchParams.get('secret'), secret);
      t.is(decodeURIComponent(url.pathname), `/Stowage:${address}`);
    }),
    { numRuns: 300 },
  );
  t.is(URI.parse(totpUrl({ secret, address: 'ada@example.com' })).label, 'ada@example.com');
});

test('There are ten codes of 50 bits, grouped for reading, without similar letters', (t) => {
  const codes = makeRecoveryCodes(randomBytes);
  t.is(codes.length, 10);
  t.is(new Set(codes).size, 10);
  for (const code of codes) t.regex(code, /^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/);
  let next = 0;
  const counted = makeRecoveryCodes((size) => Buffer.from(Array.from({ length: size }, () => next++)));
  t.is(counted.slice(0, 4).join(), '01234-56789,ABCDE-FGHJK,MNPQR-STVWX,YZ012-34567');
});

test('A code is recognised in all its spellings', (t) => {
  const spellings = [
    '10AB0-1Z9XY',
    '10ab0-1z9xy',
    'loABo-iz9xy',
    'LOabO-Iz9xy',
    ' 10ab 01z9 xy\n',
    '10AB0–1Z9XY',
    '1-0-A-B-0-1-Z-9-X-Y',
    '10AB01Z9XY',
    '１0AB0-1Z9XY',
  ];
  for (const typed of spellings) t.is(parseRecoveryCode(typed), '10AB01Z9XY', typed);
});

test('A text in another format is no recovery code', (t) => {
  for (const typed of ['', '-', '10AB0-1Z9X', '10AB0-1Z9XYZ', '10AB0-1Z9XU', '10AB0_1Z9XY']) {
    t.is(parseRecoveryCode(typed), null, typed);
  }
});

test('The canonical spelling is stable for any text, and new codes survive separators and case', (t) => {
  fc.assert(
    fc.property(anyText(), (typed) => {
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

test('The digest of a code is keyed and bound to its user', (t) => {
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
