import test from 'ava';
import { decodeJwt } from 'jose';
import {
  CommandRejected,
  OutcomeUnknown,
  StoreUnavailable,
} from '../../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import { sessionHolds } from '../../../../src/areas/accounts/domain/guard.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { makeKeyring } from '../../../../src/keys/rings/keyring.js';
import { makeRefreshTokens } from '../../../../src/keys/codes/refresh-tokens.js';
import { makeRefresh } from '../../../../src/areas/accounts/commands/signing-in/refreshing.js';
import { makeSeededRandom } from '../../../support/fakes/clock.js';
import { noKnownDevices } from '../../../support/fakes/unguarded.js';
import { client, credentials, givenAccount } from '../../../support/given/given-account.js';
import type { GivenStores } from '../../../support/given/given-stores.js';
import { beforeCommands, losableDocuments } from '../../../support/given/interrupted-stores.js';
import { typesOf } from '../../../support/given/log.js';
import { loseAnswers } from '../../../support/fakes/lossy-event-store.js';
import { outcomeOf } from '../../../support/given/outcome-of.js';

/** Signs Ada in. */
async function given(storeOptions?: Parameters<typeof givenAccount>[0]) {
  const commands = await givenAccount(storeOptions);
  const { next } = commands;
  const refreshing = async (refreshToken: string) =>
    (await commands.refresh({ refreshToken }, next())).refresh_token;
  const refused = (refreshToken: string) => outcomeOf(commands.refresh({ refreshToken }, next()));
  return { ...commands, refreshing, refused };
}

/** Returns the types of the events of a session. */
async function eventsOf({ eventStore }: GivenStores, sessionId: string): Promise<readonly string[]> {
  return typesOf(await eventStore.read(`session-${sessionId}`));
}

test('A refresh returns new tokens with the claims of the session', async (t) => {
  const { refresh, first, next, stores, accessTokens, userId, sessionId, sessions } = await given();
  const signedInAt = stores.clock.now();
  stores.clock.advance(3_600_000);
  const tokens = await refresh({ refreshToken: first }, next());
  t.like(tokens, { token_type: 'Bearer', expires_in: 600, refresh_expires_in: 1_209_600 });
  const verdict = await accessTokens.verify(tokens.access_token);
  t.like(verdict, { valid: true, claims: { userId, sessionId } });
  t.like(decodeJwt(tokens.access_token), { amr: ['pwd'], auth_time: signedInAt.getTime() / 1_000 });
  t.like(await sessions.access(sessionId), { userId });
  t.deepEqual(await eventsOf(stores, sessionId), ['SessionStarted', 'RefreshTokenRotated']);
});

test('A request that waited for 11 s leaves the token before its own a grace of 10 s', async (t) => {
  const { first, refresh, refreshing, refused, stores, next } = await given();
  const second = await refreshing(first);
  const waiting = next();
  stores.clock.advance(11_000);
  await refresh({ refreshToken: second }, waiting);
  stores.clock.advance(10_000);
  t.is(await refreshing(first), second);
  stores.clock.advance(1);
  t.is(await refused(first), 'refresh_token_reused');
});

test('A used refresh token gives the same successor until 10 s after that was used and appends nothing, and later ends the session', async (t) => {
  const { first, refreshing, refused, stores, sessionId, login, next } = await given();
  const other = await login({ ...credentials, ...client }, next());
  const second = await refreshing(first);
  stores.clock.advance(13 * 86_400_000);
  t.is(await refreshing(first), second, 'the reply may have been lost');
  t.is((await eventsOf(stores, sessionId)).length, 2);
  const third = await refreshing(second);
  stores.clock.advance(10_000);
  t.is(await refreshing(first), second);
  t.is((await eventsOf(stores, sessionId)).length, 3);
  stores.clock.advance(1);
  t.is(await refused(first), 'refresh_token_reused');
  t.deepEqual((await eventsOf(stores, sessionId)).slice(3), ['RefreshTokenReuseDetected', 'SessionRevoked']);
  t.is(await refused(first), 'refresh_token_reused', 'a repeated use is refused too');
  t.is(await refused(third), 'session_over');
  t.is((await eventsOf(stores, sessionId)).length, 5);
  t.is(typeof (await refreshing(other.tokens.refresh_token)), 'string', 'other sessions stay');
});

test('Many concurrent uses of one token in several processes lead to one rotation and one successor', async (t) => {
  const world = await given();
  const { stores, first, sessionId, next } = world;
  const before = { kid: 'r1', key: Buffer.alloc(32, 5) };
  const after = { kid: 'r2', key: Buffer.alloc(32, 9) };
  // One process already makes new tokens with another key.
  const rings = [
    [before, after],
    [before, after],
    [after, before],
  ];
  const processes = rings.map((keys) => {
    const { handler } = stores.anotherProcess();
    const { accessTokens } = world;
    const tokens = { accessTokens, refreshTokens: makeRefreshTokens(makeKeyring(keys)) };
    return makeRefresh({ handler, ...tokens, clock: stores.clock, knownDevices: noKnownDevices });
  });
  const both = makeRefreshTokens(makeKeyring([before, after]));
  const kids = new Set<string | undefined>();
  let token = first;
  for (let round = 0; round < 20; round += 1) {
    // Another process asks first in each round.
    const uses = Array.from({ length: 4 }, () =>
      [0, 1, 2].flatMap((process) => processes[(process + round) % 3] ?? []),
    );
    const answers = await Promise.all(uses.flat().map((refresh) => refresh({ refreshToken: token }, next())));
    const successors = new Set(answers.map((answer) => answer.refresh_token));
    t.is(successors.size, 1);
    const [successor] = successors;
    token = successor ?? '';
    t.is(both.verify(token)?.generation, round + 2);
    kids.add(both.verify(token)?.kid);
    stores.clock.advance(60_000);
  }
  t.deepEqual([...kids].sort(), ['r1', 'r2'], 'processes with both keys have rotated the token');
  const events = await eventsOf(stores, sessionId);
  t.deepEqual([...new Set(events.slice(1))], ['RefreshTokenRotated']);
  t.is(events.length, 21);
});

test('A token has one successor when answers of the store are lost', async (t) => {
  const random = makeSeededRandom(3);
  const wrap = (store: EventStore) => loseAnswers(store, { random, share: 0.6 });
  const { first, refresh, next, stores, sessionId } = await given({ wrap });
  let token = first;
  for (let round = 0; round < 30; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => refresh({ refreshToken: token }, next())),
    );
    t.is(new Set(answers.map(({ refresh_token }) => refresh_token)).size, 1);
    token = answers[0]?.refresh_token ?? '';
  }
  t.is((await eventsOf(stores, sessionId)).length, 31);
});

test('A retry gets the successor of an append that arrived after the client gave up', async (t) => {
  let hold = false;
  const late: (() => Promise<unknown>)[] = [];
  const wrap = (store: EventStore): EventStore => ({
    ...store,
    append: (...append) => {
      if (!hold) return store.append(...append);
      late.push(() => store.append(...append));
      return Promise.reject(new OutcomeUnknown('no answer'));
    },
  });
  const { first, refresh, refreshing, next, stores, sessionId } = await given({ wrap });
  hold = true;
  await t.throwsAsync(refresh({ refreshToken: first }, next()), { instanceOf: StoreUnavailable });
  hold = false;
  // The append arrives before the retry, so the retry finds it.
  await late.at(0)?.();
  const second = await refreshing(first);
  t.is((await eventsOf(stores, sessionId)).length, 2);
  // The append arrives after the retry, so it changes nothing.
  hold = true;
  await t.throwsAsync(refresh({ refreshToken: second }, next()), { instanceOf: StoreUnavailable });
  hold = false;
  const third = await refreshing(second);
  await t.throwsAsync(async () => late.at(-1)?.());
  t.is(await refreshing(second), third);
  t.is((await eventsOf(stores, sessionId)).length, 3);
});

test('A foreign token, a token of an unknown session and a token of a missing key are refused', async (t) => {
  const { first, refused, refreshTokens } = await given();
  const strange = makeRefreshTokens(makeKeyring([{ kid: 'r1', key: Buffer.alloc(32, 6) }]));
  t.is(await refused(''), 'refresh_token_unknown');
  t.is(await refused(`${first}x`), 'refresh_token_unknown');
  t.is(
    await refused(strange.derive(strange.issue('018f0000-0000-7000-8000-000000000001').token).token),
    'refresh_token_unknown',
  );
  t.is(await refused(refreshTokens.issue('018f0000-0000-7000-8000-000000000001').token), 'session_over');
  t.is(await refused(refreshTokens.derive(first).token), 'refresh_token_unknown', 'not issued yet');
});

test('The end of the session bounds its last refresh token', async (t) => {
  const { first, refresh, next, stores, refused } = await given();
  const day = 86_400_000;
  let token = first;
  for (let passed = 0; passed < 78; passed += 13) {
    stores.clock.advance(13 * day);
    token = (await refresh({ refreshToken: token }, next())).refresh_token;
  }
  stores.clock.advance(11 * day);
  const last = await refresh({ refreshToken: token }, next());
  t.is(last.refresh_expires_in, 86_400);
  stores.clock.advance(day - 1);
  t.is((await refresh({ refreshToken: last.refresh_token }, next())).refresh_expires_in, 1);
  stores.clock.advance(1);
  t.is(await refused(last.refresh_token), 'session_over');
});

test('A token that was unused for 14 days is refused, to the millisecond', async (t) => {
  const fortnight = 14 * 86_400_000;
  for (const [idleMs, code] of [
    [fortnight - 1, 'passed'],
    [fortnight, 'session_over'],
  ] as const) {
    const { first, refused, stores } = await given();
    stores.clock.advance(idleMs);
    t.is(await refused(first), code);
  }
});

const takesAway: readonly [string, (world: Awaited<ReturnType<typeof given>>) => Promise<unknown>][] = [
  ['signing out', ({ logout, userId, sessionId, next }) => logout({ userId, sessionId, all: false }, next())],
  [
    'signing out everywhere',
    ({ logout, userId, sessionId, next }) => logout({ userId, sessionId, all: true }, next()),
  ],
  [
    'a password change that keeps another session',
    async ({ stores: { handler, sealer }, userId, next }) =>
      handler.handle(
        { aggregate: userAggregate, id: userId },
        {
          type: 'ChangePassword',
          password_hash: await sealer.seal({ kind: 'person', userId }, 'password_hash', 'another'),
          checkedAgainst: null,
          session: { id: '018f0000-0000-7000-8000-00000000abcd', epoch: 0 },
        },
        next(),
        { revokesAccess: true },
      ),
  ],
  [
    'an erasure',
    ({ stores: { handler }, userId, next }) =>
      handler.handle({ aggregate: userAggregate, id: userId }, { type: 'Erase' }, next(), {
        revokesAccess: true,
      }),
  ],
];

for (const [what, takeAway] of takesAway) {
  test(`Every token of a session is refused after ${what}`, async (t) => {
    const world = await given();
    const second = await world.refreshing(world.first);
    await takeAway(world);
    t.is(await world.refused(second), 'session_over');
    t.is(await world.refused(world.first), 'session_over');
    t.false(await passes(world));
  });

  test(`No token of a session is accepted after a refresh during ${what}`, async (t) => {
    const world = await given();
    const { stores, refreshTokens, accessTokens, first, next } = world;
    // The refresh has read the state, and access is taken away before it appends.
    const refresh = makeRefresh({
      ...{ refreshTokens, accessTokens, clock: stores.clock, knownDevices: noKnownDevices },
      handler: beforeCommands(stores, () => takeAway(world)).handler,
    });
    const answer = await refresh({ refreshToken: first }, next()).catch((error: unknown) => error);
    t.false(await passes(world));
    if (answer instanceof Error) t.true(answer instanceof CommandRejected);
    else t.is(await world.refused((answer as { refresh_token: string }).refresh_token), 'session_over');
  });
}

/** Returns whether authentication accepts the session and the user. */
async function passes({ sessions, users, sessionId, userId }: Awaited<ReturnType<typeof given>>) {
  const [session, user] = await Promise.all([sessions.access(sessionId), users.access(userId)]);
  return session !== null && user !== null && sessionHolds(user, { id: sessionId, epoch: session.epoch });
}

test('The service does not acknowledge signing out while the read-model store is away', async (t) => {
  const { lost, options } = losableDocuments();
  const { logout, revokeSession, userId, sessionId, next } = await given(options);
  lost.prefix = '';
  for (const all of [false, true]) {
    t.is(await outcomeOf(logout({ userId, sessionId, all }, next())), 'StoreUnavailable');
  }
  t.is(await outcomeOf(revokeSession({ userId, sessionId }, next())), 'StoreUnavailable');
});

test('The service does not report a reuse before its documents are written', async (t) => {
  const { lost, options } = losableDocuments();
  const { stores, refresh, refreshTokens, sessions, next, first, sessionId } = await given(options);
  lost.prefix = '';
  t.like(
    await refresh({ refreshToken: first }, next()),
    { token_type: 'Bearer' },
    'a rotation does not wait for its documents',
  );
  await refresh({ refreshToken: refreshTokens.derive(first).token }, next());
  stores.clock.advance(10_001);
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await t.throwsAsync(refresh({ refreshToken: first }, next()), { instanceOf: StoreUnavailable });
  }
  t.deepEqual((await eventsOf(stores, sessionId)).slice(3), ['RefreshTokenReuseDetected', 'SessionRevoked']);
  t.not(await sessions.access(sessionId), null, 'the document of the session is late');
  lost.prefix = null;
  t.is(await outcomeOf(refresh({ refreshToken: first }, next())), 'refresh_token_reused');
  t.is(await sessions.access(sessionId), null);
});
