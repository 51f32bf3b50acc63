import { createHmac } from 'node:crypto';
import test from 'ava';
import { makeDigests } from '../../src/keys/digests.js';
import { KeyMissing } from '../../src/keys/errors.js';
import { makeKeyring } from '../../src/keys/keyring.js';
import { makeAddressChangeCodes, makeLoginCodes } from '../../src/keys/login-codes.js';

const oldKey = { kid: 'c1', key: Buffer.alloc(32, 1) };
const newKey = { kid: 'c2', key: Buffer.alloc(32, 2) };
const digests = makeDigests(Buffer.alloc(32, 3));
const issue = {
  kid: 'c1',
  issueId: '018f3a6e-0000-7000-8000-000000000001',
  emailDigest: digests.email('ada@example.com'),
};
const codes = makeLoginCodes(makeKeyring([newKey, oldKey]));

test('a code is the HMAC of purpose, issue and address modulo a million: pinned, since mailed codes must stay valid', (t) => {
  const message = JSON.stringify(['login', issue.issueId, issue.emailDigest]);
  const mac = createHmac('sha256', oldKey.key).update(message).digest();
  // Horner's rule over the bytes, apart from the way of the implementation.
  const rest = mac.reduce((sum, byte) => (sum * 256 + byte) % 1_000_000, 0);
  t.is(codes.codeFor(issue), String(rest).padStart(6, '0'));
});

test('only the six digits themselves match', (t) => {
  const code = codes.codeFor(issue);
  t.true(codes.matches(issue, code));
  const wide = String.fromCodePoint(...Array.from(code, (digit) => 0xff10 + Number(digit)));
  const wrong = ['', '0', ` ${code}`, `${code} `, `${code}\n`, `${code}0`, code.slice(1), wide];
  for (const typed of wrong) t.false(codes.matches(issue, typed), JSON.stringify(typed));
  for (let place = 0; place < 6; place += 1) {
    const digit = (Number(code[place]) + 1) % 10;
    t.false(codes.matches(issue, code.slice(0, place) + String(digit) + code.slice(place + 1)));
  }
});

test('another issue, address, key or purpose has another code', (t) => {
  const others = [
    codes.codeFor({ ...issue, issueId: '018f3a6e-0000-7000-8000-000000000002' }),
    codes.codeFor({ ...issue, emailDigest: digests.email('bob@example.com') }),
    codes.codeFor({ ...issue, kid: 'c2' }),
    makeAddressChangeCodes(makeKeyring([newKey, oldKey])).codeFor(issue),
  ];
  t.is(new Set([codes.codeFor(issue), ...others]).size, 5);
});

test('parts that are the same when joined are not the same', (t) => {
  const one = { kid: 'c1', issueId: 'ab', emailDigest: 'c' };
  t.not(codes.codeFor(one), codes.codeFor({ ...one, issueId: 'a', emailDigest: 'bc' }));
});

test('new issues take the active key, and older ones keep theirs through a rotation', (t) => {
  const before = makeLoginCodes(makeKeyring([oldKey]));
  t.is(before.active(), 'c1');
  t.is(codes.active(), 'c2');
  t.true(codes.matches(issue, before.codeFor(issue)));
});

test('a key that is gone is told apart from a wrong code', (t) => {
  const onlyNew = makeLoginCodes(makeKeyring([newKey]));
  t.throws(() => onlyNew.codeFor(issue), { instanceOf: KeyMissing });
  t.throws(() => onlyNew.matches(issue, 'wrong'), { instanceOf: KeyMissing });
});

test('every digit of a code is equally likely: chi-squared of 60,000 digits', (t) => {
  const issues = 60_000 / 6;
  const counts = Array.from({ length: 6 }, () => Array.from({ length: 10 }, () => 0));
  for (let index = 0; index < issues; index += 1) {
    const code = codes.codeFor({ ...issue, issueId: String(index) });
    for (const [place, row] of counts.entries()) {
      const digit = Number(code[place]);
      row[digit] = (row[digit] ?? 0) + 1;
    }
  }
  const expected = issues / 10;
  for (const row of counts) {
    const chiSquared = row.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    // 9 degrees of freedom: 99.99 % of fair dice stay below.
    t.true(chiSquared < 33.7, `${chiSquared}`);
  }
});
