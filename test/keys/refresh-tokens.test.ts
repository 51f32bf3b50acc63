import { createHmac, randomBytes } from 'node:crypto';
import test from 'ava';
import { makeDigests } from '../../src/keys/digests.js';
import { KeyMissing } from '../../src/keys/errors.js';
import { makeKeyring } from '../../src/keys/keyring.js';
import { makeRefreshTokens } from '../../src/keys/refresh-tokens.js';
import { parseStreamName, streamName } from '../../src/event-sourcing/decider.js';
import { makeSeededRandom } from '../support/clock.js';

const sessionId = '018f3a6e-0000-7000-8000-000000000001';
const oldKey = { kid: 'r1', key: Buffer.alloc(32, 1) };
const newKey = { kid: 'r2', key: Buffer.alloc(32, 2) };
const before = makeRefreshTokens(makeKeyring([oldKey]));
const after = makeRefreshTokens(makeKeyring([newKey, oldKey]));

test('a session begins with generation 1, and each token names the next', (t) => {
  const first = before.issue(sessionId);
  t.deepEqual(before.verify(first.token), { sessionId, generation: 1, kid: 'r1' });
  const second = before.derive(first.token);
  t.deepEqual(before.verify(second.token), { sessionId, generation: 2, kid: 'r1' });
  t.is(second.digest, before.digest(second.token));
  t.regex(second.digest, /^[0-9a-f]{64}$/);
});

test('the format is pinned: tokens that clients hold stay valid', (t) => {
  const { token } = before.issue(sessionId);
  const link = '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU';
  const body = `r1.${sessionId}.1.r1.${link}`;
  t.is(token, `${body}.${createHmac('sha256', Buffer.alloc(32, 1)).update(body).digest('base64url')}`);
});

test('a successor is recomputed from the presented token and the recorded key, also after a rotation of keys', (t) => {
  const first = before.issue(sessionId);
  const second = before.derive(first.token);
  t.deepEqual(after.derive(first.token, second.kid), second);
  t.deepEqual(after.issue(sessionId, first.kid), first);
  t.is(after.derive(first.token).kid, 'r2');
  t.not(after.derive(first.token).token, second.token);
});

test('a successor depends on its predecessor', (t) => {
  const [one, two] = [after.issue(sessionId, 'r1'), after.issue(sessionId, 'r2')];
  t.not(after.derive(one.token).token, after.derive(two.token).token);
});

test('a linked token takes its link as it is given, and has successors as any other', (t) => {
  const link = 'L'.repeat(43);
  const linked = before.issueLinked(sessionId, 5, link);
  t.deepEqual(before.verify(linked.token), { sessionId, generation: 5, kid: 'r1' });
  t.true(linked.token.startsWith(`r1.${sessionId}.5.r1.${link}.`));
  t.is(linked.digest, before.digest(linked.token));
  t.deepEqual(
    after.issueLinked(sessionId, 5, link, linked.kid),
    linked,
    'recomputed after a rotation of keys',
  );
  t.not(before.issueLinked(sessionId, 5, 'M'.repeat(43)).token, linked.token);
  t.is(before.derive(linked.token).generation, 6);
});

test('a key that is gone verifies nothing and derives nothing', (t) => {
  const first = before.issue(sessionId);
  const onlyNew = makeRefreshTokens(makeKeyring([newKey]));
  t.is(onlyNew.verify(first.token), null);
  t.throws(() => after.derive(first.token, 'r3'), { instanceOf: KeyMissing });
  t.throws(() => onlyNew.derive(first.token), { message: 'only a verified refresh token has a successor' });
});

test('of 5,000 mutated tokens none is accepted', (t) => {
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

test('digests are names of streams, differ by purpose and by key, and are pinned', (t) => {
  const digests = makeDigests(Buffer.alloc(32, 1));
  const digest = digests.email('a@example.com');
  t.is(digest, createHmac('sha256', Buffer.alloc(32, 1)).update('["email","a@example.com"]').digest('hex'));
  t.deepEqual(parseStreamName(streamName('email', digest)), { category: 'email', id: digest });
  const all = [digest, digests.ip('a@example.com'), digests.of('email"', 'x'), digests.of('email', '","x')];
  t.is(new Set([...all, makeDigests(randomBytes(32)).email('a@example.com')]).size, 5);
  t.is(digests.of('email', 'a@example.com'), digest);
});
