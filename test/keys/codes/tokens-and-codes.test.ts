import { createHmac, randomBytes } from 'node:crypto';
import test from 'ava';
import { makeDigests } from '../../../src/keys/sealing/digests.js';
import { KeyMissing } from '../../../src/keys/sealing/errors.js';
import { makeKeyring } from '../../../src/keys/rings/keyring.js';
import { makeRefreshTokens } from '../../../src/keys/codes/refresh-tokens.js';
import { parseStreamName, streamName } from '../../../src/event-sourcing/ports/domain-event.js';
import { digestShareToken, makeShareSessions } from '../../../src/keys/codes/mac-tokens.js';
import { makeMailedCodes } from '../../../src/keys/codes/login-codes.js';
import { makeSeededRandom } from '../../support/fakes/clock.js';
import { accessId, shareId } from '../../support/examples/ids.js';

const sessionId = '018f3a6e-0000-7000-8000-000000000001';
const oldKey = { kid: 'r1', key: Buffer.alloc(32, 1) };
const newKey = { kid: 'r2', key: Buffer.alloc(32, 2) };
const before = makeRefreshTokens(makeKeyring([oldKey]));
const after = makeRefreshTokens(makeKeyring([newKey, oldKey]));

test('A session begins with generation 1, and each token derives the next', (t) => {
  const first = before.issue(sessionId);
  t.deepEqual(before.verify(first.token), { sessionId, generation: 1, kid: 'r1' });
  const second = before.derive(first.token);
  t.deepEqual(before.verify(second.token), { sessionId, generation: 2, kid: 'r1' });
  t.is(second.digest, before.digest(second.token));
  t.regex(second.digest, /^[0-9a-f]{64}$/);
});

test('The format of refresh tokens is pinned, because clients hold them', (t) => {
  const { token } = before.issue(sessionId);
  const link = '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU';
  const body = `r1.${sessionId}.1.r1.${link}`;
  t.is(token, `${body}.${createHmac('sha256', Buffer.alloc(32, 1)).update(body).digest('base64url')}`);
});

test('A successor depends on its predecessor', (t) => {
  const [one, two] = [after.issue(sessionId, 'r1'), after.issue(sessionId, 'r2')];
  t.not(after.derive(one.token).token, after.derive(two.token).token);
});

test('A linked token contains the given link and has successors', (t) => {
  const link = 'L'.repeat(43);
  const linked = before.issueLinked(sessionId, 5, link);
  t.deepEqual(before.verify(linked.token), { sessionId, generation: 5, kid: 'r1' });
  t.true(linked.token.startsWith(`r1.${sessionId}.5.r1.${link}.`));
  t.is(linked.digest, before.digest(linked.token));
  t.deepEqual(
    after.issueLinked(sessionId, 5, link, linked.kid),
    linked,
    'it is recomputed after a rotation of keys',
  );
  t.not(before.issueLinked(sessionId, 5, 'M'.repeat(43)).token, linked.token);
  t.is(before.derive(linked.token).generation, 6);
});

test('A removed key verifies nothing and derives nothing', (t) => {
  const first = before.issue(sessionId);
  const onlyNew = makeRefreshTokens(makeKeyring([newKey]));
  t.is(onlyNew.verify(first.token), null);
  t.throws(() => after.derive(first.token, 'r3'), { instanceOf: KeyMissing });
  t.throws(() => onlyNew.derive(first.token), { message: 'only a verified refresh token has a successor' });
});

test('No token of 5,000 mutants is accepted', (t) => {
  const random = makeSeededRandom(7);
  const pick = (below: number) => Math.floor(random() * below);
  const other = before.issue('018f3a6e-0000-7000-8000-000000000002').token.split('.');
  const alphabet = 'ABCXYZabcxyz0189-_.=+ /é';
  const { token } = before.derive(before.issue(sessionId).token);
  const mutations: readonly (() => string)[] = [
    () => replaced(pick(token.length), alphabet.charAt(pick(alphabet.length))),
    () => replaced(pick(token.length), ''),
    () => token.slice(0, pick(token.length)),
    () => token + alphabet.charAt(pick(alphabet.length)),
    () => {
      const parts = token.split('.');
      const place = pick(parts.length);
      return parts.with(place, other[place] ?? '').join('.');
    },
    () => token.toUpperCase(),
  ];
  for (let index = 0; index < 5_000; index += 1) {
    const mutant = mutations[index % mutations.length]?.() ?? '';
    if (mutant !== token && before.verify(mutant) !== null) t.fail(mutant);
  }
  t.not(before.verify(token), null);

  function replaced(at: number, by: string): string {
    return token.slice(0, at) + by + token.slice(at + 1);
  }
});

test('Digests fit stream names, differ by purpose and by key, and are pinned', (t) => {
  const digests = makeDigests(Buffer.alloc(32, 1));
  const digest = digests.email('a@example.com');
  t.is(digest, createHmac('sha256', Buffer.alloc(32, 1)).update('["email","a@example.com"]').digest('hex'));
  t.deepEqual(parseStreamName(streamName('email', digest)), { category: 'email', id: digest });
  const all = [digest, digests.ip('a@example.com'), digests.of('email"', 'x'), digests.of('email', '","x')];
  t.is(new Set([...all, makeDigests(randomBytes(32)).email('a@example.com')]).size, 5);
  t.is(digests.of('email', 'a@example.com'), digest);
});

const [one, other] = ['a', 'b'].map((kid, index) => ({ kid, key: Buffer.alloc(32, index) })) as [
  { kid: string; key: Buffer },
  { kid: string; key: Buffer },
];
const endsAt = new Date('2026-02-01T12:00:00.000Z');
const beforeEnd = new Date(endsAt.getTime() - 1);
const session = { shareId, accessId, passwordGeneration: 3, endsAt };

test('A share session returns its content until the millisecond before its end', (t) => {
  const sessions = makeShareSessions(makeKeyring([one]));
  const token = sessions.issue(session);
  t.deepEqual(sessions.verify(token, beforeEnd), session);
  t.is(sessions.verify(token, endsAt), null);
});

test('A share session outlives the promotion of another key, and not the removal of its key', (t) => {
  const token = makeShareSessions(makeKeyring([one])).issue(session);
  t.deepEqual(makeShareSessions(makeKeyring([other, one])).verify(token, beforeEnd), session);
  t.is(makeShareSessions(makeKeyring([other])).verify(token, beforeEnd), null);
});

test('A share session with one changed character is refused', (t) => {
  const sessions = makeShareSessions(makeKeyring([one, other]));
  const token = sessions.issue(session);
  for (let at = 0; at < token.length; at += 1) {
    for (const character of ['0', '1', 'a', 'b', 'A', '.', '_', '']) {
      if (token[at] === character) continue;
      const changed = token.slice(0, at) + character + token.slice(at + 1);
      if (changed !== token) t.is(sessions.verify(changed, beforeEnd), null, changed);
    }
  }
  t.is(sessions.verify(`${token} `, beforeEnd), null);
  t.is(sessions.verify('', beforeEnd), null);
});

test('A refresh token is no share session, and a share session is no refresh token', (t) => {
  const keys = makeKeyring([one]);
  const [sessions, refreshTokens] = [makeShareSessions(keys), makeRefreshTokens(keys)];
  t.is(sessions.verify(refreshTokens.issue(shareId).token, beforeEnd), null);
  t.is(refreshTokens.verify(sessions.issue(session)), null);
});

test('The formats of share sessions and of share digests are pinned, because they must stay valid', (t) => {
  t.is(
    makeShareSessions(makeKeyring([one])).issue(session),
    's1.019b7d00-0000-7000-8000-000000000081.019b7d00-0000-7000-8000-000000000091.3.1769947200000.a.7B6P2TGj51eK05VJwLx9TaM1nZxa6wrOUQuLHH2AkD0',
  );
  t.is(
    digestShareToken(makeDigests(Buffer.alloc(32, 1)), 'x'.repeat(22)),
    '7a95324f339acc013911f03a1821d700295f28443b5018a5dca47d233cce043c',
  );
});

const oldCodeKey = { kid: 'c1', key: Buffer.alloc(32, 1) };
const newCodeKey = { kid: 'c2', key: Buffer.alloc(32, 2) };
const digests = makeDigests(Buffer.alloc(32, 3));
const issue = {
  kid: 'c1',
  issue_id: '018f3a6e-0000-7000-8000-000000000001',
  email_digest: digests.email('ada@example.com'),
};
const { loginCodes: codes, addressChangeCodes } = makeMailedCodes(makeKeyring([newCodeKey, oldCodeKey]));

test('A code is the pinned HMAC of purpose, issue and address modulo a million', (t) => {
  const message = JSON.stringify(['login', issue.issue_id, issue.email_digest]);
  const mac = createHmac('sha256', oldCodeKey.key).update(message).digest();
  // Horner's rule over the bytes, which differs from the implementation.
  const rest = mac.reduce((sum, byte) => (sum * 256 + byte) % 1_000_000, 0);
  t.is(codes.codeFor(issue), String(rest).padStart(6, '0'));
});

test('The six digits match as people type them, and no other digits do', (t) => {
  const code = codes.codeFor(issue);
  t.true(codes.matches(issue, code));
  const wide = String.fromCodePoint(...Array.from(code, (digit) => 0xff10 + Number(digit)));
  const grouped = `${code.slice(0, 3)}\u00a0\u2013 ${code.slice(3)}`;
  for (const typed of [` ${code}`, `${code}\n`, wide, grouped])
    t.true(codes.matches(issue, typed), JSON.stringify(typed));
  const wrong = ['', '0', `${code}0`, code.slice(1), `${code.slice(0, 3)}.${code.slice(3)}`];
  for (const typed of wrong) t.false(codes.matches(issue, typed), JSON.stringify(typed));
  for (let place = 0; place < 6; place += 1) {
    const digit = (Number(code[place]) + 1) % 10;
    t.false(codes.matches(issue, code.slice(0, place) + String(digit) + code.slice(place + 1)));
  }
});

test('Another issue, address, key or purpose has another code', (t) => {
  const others = [
    codes.codeFor({ ...issue, issue_id: '018f3a6e-0000-7000-8000-000000000002' }),
    codes.codeFor({ ...issue, email_digest: digests.email('bob@example.com') }),
    codes.codeFor({ ...issue, kid: 'c2' }),
    addressChangeCodes.codeFor(issue),
  ];
  t.is(new Set([codes.codeFor(issue), ...others]).size, 5);
});

test('Parts that are equal when joined have different codes', (t) => {
  const one = { kid: 'c1', issue_id: 'ab', email_digest: 'c' };
  t.not(codes.codeFor(one), codes.codeFor({ ...one, issue_id: 'a', email_digest: 'bc' }));
});

test('A code of a retired key cannot be computed, and no text matches it', (t) => {
  const { loginCodes: onlyNew } = makeMailedCodes(makeKeyring([newCodeKey]));
  t.throws(() => onlyNew.codeFor(issue), { instanceOf: KeyMissing });
  const withActive = onlyNew.codeFor({ ...issue, kid: onlyNew.active() });
  for (const typed of ['wrong', codes.codeFor(issue), withActive]) t.false(onlyNew.matches(issue, typed));
});

test('Every digit of a code is equally likely by chi-squared of 60,000 digits', (t) => {
  const issues = 60_000 / 6;
  const counts = Array.from({ length: 6 }, () => Array.from({ length: 10 }, () => 0));
  for (let index = 0; index < issues; index += 1) {
    const code = codes.codeFor({ ...issue, issue_id: String(index) });
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
