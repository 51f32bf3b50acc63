import { createHash, randomBytes } from 'node:crypto';
import test from 'ava';
import { makeMailedCodes } from '../../../src/keys/codes/login-codes.js';
import { makeRefreshTokens } from '../../../src/keys/codes/refresh-tokens.js';
import { makeSealer } from '../../../src/keys/sealing/sealer.js';
import { makeAccessTokens } from '../../../src/security/tokens/access-tokens.js';
import { givenKeyRotation } from '../../support/given/given-key-rotation.js';

/*
 * Values of an old key stay valid while its ring is rotated, and later values are made with the new key. "The other
 * process" has read the key file before the rotation began.
 */
const dayMs = 86_400_000;

test('Access tokens from before a rotation stay valid, and new ones are valid everywhere at once', async (t) => {
  const { keyRings, openRings, rotation, rotate, clock } = givenKeyRotation(t);
  const tokensOf = (rings: typeof keyRings) =>
    makeAccessTokens({
      keys: rings.jwt,
      issuer: 'https://api.example.org',
      clock,
      makeId: () => 'token-1',
    });
  const [here, there] = [tokensOf(keyRings), tokensOf(openRings())];
  const kids = async () => (await here.jwks()).keys.map(({ kid }) => kid);
  const grant = { userId: 'u1', sessionId: 's1', authenticatedAt: clock.now(), methods: ['pwd'] };
  const old = await here.sign(grant);

  const { from, to } = rotate('jwt');
  t.deepEqual(await kids(), [to, from]);
  const fresh = await here.sign(grant);
  for (const { token } of [old, fresh]) {
    t.like(await here.verify(token), { valid: true });
    t.like(await there.verify(token), { valid: true });
  }

  // Only tokens that have expired long ago are lost with their key
  clock.advance(11 * 60_000);
  t.deepEqual(await here.verify(old.token), { valid: false, code: 'token_expired' });
  await rotation.retire('jwt', from, { force: false });
  t.deepEqual(await kids(), [to]);
  t.like(await here.verify((await here.sign(grant)).token), { valid: true });
});

test('Refresh tokens from before a rotation are accepted, and their successors use the new key', (t) => {
  const { keyRings, openRings, rotate } = givenKeyRotation(t);
  const [here, there] = [makeRefreshTokens(keyRings.refresh), makeRefreshTokens(openRings().refresh)];
  const sessionId = '019a2b3c-0000-7000-8000-000000000001';
  const first = here.issue(sessionId);
  // A reply is lost: the same successor is computed again after the ring has changed
  const lost = here.derive(first.token);

  const { from, to } = rotate('refresh');
  t.deepEqual(here.verify(first.token), { sessionId, generation: 1, kid: from });
  t.is(here.derive(first.token, lost.kid).token, lost.token);
  const next = here.derive(lost.token);
  t.is(next.kid, to);
  t.deepEqual(there.verify(next.token), { sessionId, generation: 3, kid: to });
});

test('Codes that were mailed before a rotation are accepted after it, and new ones use the new key', (t) => {
  const { keyRings, openRings, rotate } = givenKeyRotation(t);
  const issue = { issue_id: 'issue-1', email_digest: createHash('sha256').digest('hex') };
  for (const kind of ['loginCodes', 'addressChangeCodes'] as const) {
    const [here, there] = [makeMailedCodes(keyRings.code)[kind], makeMailedCodes(openRings().code)[kind]];
    const mailed = { ...issue, kid: here.active() };
    const code = here.codeFor(mailed);
    const { from, to } = rotate('code');
    t.is(mailed.kid, from);
    t.is(here.active(), to);
    t.true(here.matches(mailed, code));
    t.true(there.matches({ ...issue, kid: to }, here.codeFor({ ...issue, kid: to })));
  }
});

test('Sealed values open through a rotation, before and after rewrapping, and replies until they expire', async (t) => {
  const { keyRings, openRings, stateStore, sealer, rotation, rotate, clock } = givenKeyRotation(t);
  const there = makeSealer({ stateStore, masterKeys: openRings().master, clock, randomBytes });
  const ada = { kind: 'person', userId: 'ada' } as const;
  const bea = { kind: 'person', userId: 'bea' } as const;
  const reply = { kind: 'reply', claim: 'claim-1' } as const;
  const email = await sealer.seal(ada, 'email', 'ada@example.org');
  const kept = await sealer.seal(reply, 'reply', '{"status":201}');

  const { from, to } = rotate('master');
  // A process that has not read the ring again still wraps keys with the old one
  const late = await there.seal(bea, 'email', 'bea@example.org');
  const opensEverywhere = async () => {
    for (const process of [
      sealer,
      makeSealer({ stateStore, masterKeys: keyRings.master, clock, randomBytes }),
    ]) {
      t.is(await process.open(ada, 'email', email), 'ada@example.org');
      t.is(await process.open(bea, 'email', late), 'bea@example.org');
      t.is(await process.open(reply, 'reply', kept), '{"status":201}');
    }
  };
  await opensEverywhere();
  t.deepEqual(await sealer.countByMasterKey(), new Map([[from, 2]]));
  t.like(await sealer.rewrap(), { rewrapped: 2, byMasterKey: new Map([[to, 2]]) });
  await opensEverywhere();
  t.is(await there.open(ada, 'email', email), 'ada@example.org');

  clock.advance(dayMs + 60_000);
  await rotation.retire('master', from, { force: false });
  const fresh = makeSealer({ stateStore, masterKeys: openRings().master, clock, randomBytes });
  t.is(await fresh.open(ada, 'email', email), 'ada@example.org');
  t.is(await fresh.open(bea, 'email', late), 'bea@example.org');
});
