import test from 'ava';
import { makeDigests } from '../../src/keys/digests.js';
import { makeKeyring } from '../../src/keys/keyring.js';
import { makeRefreshTokens } from '../../src/keys/refresh-tokens.js';
import { makeShareSessions } from '../../src/keys/share-sessions.js';
import { digestShareToken } from '../../src/keys/share-tokens.js';
import { shareId } from '../support/examples/ids.js';

const [one, other] = ['a', 'b'].map((kid, index) => ({ kid, key: Buffer.alloc(32, index) })) as [
  { kid: string; key: Buffer },
  { kid: string; key: Buffer },
];
const endsAt = new Date('2026-02-01T12:00:00.000Z');
const before = new Date(endsAt.getTime() - 1);
const session = { shareId, passwordGeneration: 3, endsAt };

test('a session says what was put into it, until the millisecond before its end', (t) => {
  const sessions = makeShareSessions(makeKeyring([one]));
  const token = sessions.issue(session);
  t.deepEqual(sessions.verify(token, before), session);
  t.is(sessions.verify(token, endsAt), null);
});

test('a session outlives the promotion of another key, and not the removal of its own', (t) => {
  const token = makeShareSessions(makeKeyring([one])).issue(session);
  t.deepEqual(makeShareSessions(makeKeyring([other, one])).verify(token, before), session);
  t.is(makeShareSessions(makeKeyring([other])).verify(token, before), null);
});

test('a session of which one character is another is none', (t) => {
  const sessions = makeShareSessions(makeKeyring([one, other]));
  const token = sessions.issue(session);
  for (let at = 0; at < token.length; at += 1) {
    for (const character of ['0', '1', 'a', 'b', 'A', '.', '_', '']) {
      if (token[at] === character) continue;
      const changed = token.slice(0, at) + character + token.slice(at + 1);
      if (changed !== token) t.is(sessions.verify(changed, before), null, changed);
    }
  }
  t.is(sessions.verify(`${token} `, before), null);
  t.is(sessions.verify('', before), null);
});

test('what the ring makes for another purpose is no session, and a session no refresh token', (t) => {
  const keys = makeKeyring([one]);
  const [sessions, refreshTokens] = [makeShareSessions(keys), makeRefreshTokens(keys)];
  t.is(sessions.verify(refreshTokens.issue(shareId).token, before), null);
  t.is(refreshTokens.verify(sessions.issue(session)), null);
});

test('what visitors hold and what shares are found by is pinned: it stays valid', (t) => {
  t.is(
    makeShareSessions(makeKeyring([one])).issue(session),
    's1.019b7d00-0000-7000-8000-000000000081.3.1769947200000.a.qWZW1EVTmf9pyi62D7owqL0eizcwYt3VX2kZPp-UOYY',
  );
  t.is(
    digestShareToken(makeDigests(Buffer.alloc(32, 1)), 'x'.repeat(22)),
    '7a95324f339acc013911f03a1821d700295f28443b5018a5dca47d233cce043c',
  );
});
