import test from 'ava';
import { decodeJwt } from 'jose';
import type { KnownDevice } from '../../../../src/security/guessing/guard.js';
import type { TypedFactor } from '../../../../src/areas/accounts/commands/factors/second-factors.js';
import { sessionAggregate } from '../../../../src/areas/accounts/domain/session/session.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { otherThan, totpCode } from '../../../support/fakes/authenticator-app.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { client, credentials, givenAccount } from '../../../support/given/given-account.js';
import { outcomeOf } from '../../../support/given/outcome-of.js';

/** Given a user with a session, and an authenticator app with the clock of the test. */
async function given() {
  const { next: context, ...account } = await givenAccount();
  const { userId, sessionId } = account;
  return {
    ...account,
    context,
    caller: { userId, sessionId, session: { id: sessionId, epoch: 0 }, client: client.client },
  };
}

/** The same with TOTP on. The next code is unused. */
async function givenTotp() {
  const world = await given();
  const { stores, caller, context, enrolTotp, confirmTotp } = world;
  const { secret } = await enrolTotp(caller, context());
  const code = (ahead = 0) => totpCode(secret, stores.clock.now(), ahead);
  const recoveryCodes = (await confirmTotp({ ...caller, code: code() }, context())) ?? [];
  stores.clock.advance(30_000);
  return { ...world, secret, code, recoveryCodes };
}

test('A repeated enrolment returns the same secret, and a later one returns another and ends the first', async (t) => {
  const { stores, caller, context, enrolTotp, confirmTotp } = await given();
  const command = context();
  const first = await enrolTotp(caller, command);
  t.deepEqual(await enrolTotp(caller, command), first);
  const second = await enrolTotp(caller, context());
  t.not(second.secret, first.secret);
  const old = totpCode(first.secret, stores.clock.now());
  t.is(await outcomeOf(confirmTotp({ ...caller, code: old }, context())), 'second_factor_refused');
});

test('One of two concurrent confirmations returns valid recovery codes', async (t) => {
  const { stores, caller, context, enrolTotp, confirmTotp } = await given();
  const other = givenCommands(stores.anotherProcess());
  const { secret } = await enrolTotp(caller, context());
  const code = totpCode(secret, stores.clock.now());
  const tried = await Promise.allSettled([
    confirmTotp({ ...caller, code }, context()),
    other.confirmTotp({ ...caller, code }, context()),
  ]);
  const confirmed = tried.filter((one) => one.status === 'fulfilled');
  t.is(confirmed.length, 1);
  const { state } = await stores.handler.load(userAggregate, caller.userId);
  const digests = confirmed[0]?.value?.map((one) =>
    stores.digests.recoveryCode(caller.userId, one.replace('-', '')),
  );
  t.deepEqual(state.status === 'registered' && [...state.recoveryCodes], digests);
});

test('A second factor that waited for its turn leaves the replaced token a grace of 10 s', async (t) => {
  const { stores, caller, context, code, first, passSecondFactor, refresh } = await givenTotp();
  const waiting = context();
  stores.clock.advance(11_000);
  const { tokens } = await passSecondFactor({ ...caller, factor: { code: code() } }, waiting);
  stores.clock.advance(10_000);
  t.is((await refresh({ refreshToken: first }, context())).refresh_token, tokens.refresh_token);
});

test('A passed second factor returns tokens of the same session, strengthened', async (t) => {
  const { stores, caller, context, code, passSecondFactor, accessTokens, refreshTokens } = await givenTotp();
  const { tokens } = await passSecondFactor({ ...caller, factor: { code: code() } }, context());
  t.like(tokens, { token_type: 'Bearer', expires_in: 600, refresh_expires_in: 1_209_600 });
  t.like(await accessTokens.verify(tokens.access_token), {
    valid: true,
    claims: { userId: caller.userId, sessionId: caller.sessionId },
  });
  t.deepEqual(decodeJwt(tokens.access_token)['amr'], ['pwd', 'otp']);
  t.like(refreshTokens.verify(tokens.refresh_token), { sessionId: caller.sessionId, generation: 2 });
  const { state } = await stores.handler.load(sessionAggregate, caller.sessionId);
  t.is(
    state.status === 'started' && state.refresh.refresh_token_digest,
    refreshTokens.digest(tokens.refresh_token),
    'the session keeps the digest of this token',
  );
});

test('The earlier refresh token gets the same new token, which the service recomputes', async (t) => {
  const { stores, caller, context, code, first, passSecondFactor, refreshTokens } = await givenTotp();
  const fresh = await passSecondFactor({ ...caller, factor: { code: code() } }, context());
  stores.clock.advance(10_000);
  // The refresh call does the same with the token.
  const { state } = await stores.handler.load(sessionAggregate, caller.sessionId);
  const presented = { generation: 1, digest: refreshTokens.digest(first) };
  const successor = {
    refresh_generation: 2,
    refresh_key_id: 'r1',
    refresh_token_digest: refreshTokens.derive(first).digest,
    idle_expires_at: stores.clock.now().toISOString(),
  };
  const refresh = { type: 'Refresh', presented, successor, now: stores.clock.now() } as const;
  t.deepEqual(sessionAggregate.decider.decide(refresh, state), []);
  const { refresh_generation, link, refresh_key_id } = state.status === 'started' ? state.refresh : t.fail();
  t.is(
    refreshTokens.issueLinked(caller.sessionId, refresh_generation, link ?? '', refresh_key_id).token,
    fresh.tokens.refresh_token,
  );
});

test('A code of one step passes once over all processes', async (t) => {
  const { stores, caller, context, code, passSecondFactor } = await givenTotp();
  const processes = [stores.anotherProcess(), stores.anotherProcess(), stores.anotherProcess()].map(
    (process) => givenCommands(process),
  );
  const factor = { code: code() };
  const tried = await Promise.allSettled(
    processes.map((process) => process.passSecondFactor({ ...caller, factor }, context())),
  );
  t.deepEqual(tried.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected']);
  t.is(await outcomeOf(passSecondFactor({ ...caller, factor }, context())), 'second_factor_refused');
  // The code of the step before, which would still match, does not pass either.
  const before = { code: code(-1) };
  t.is(await outcomeOf(passSecondFactor({ ...caller, factor: before }, context())), 'second_factor_refused');
  stores.clock.advance(30_000);
  t.truthy(await passSecondFactor({ ...caller, factor: { code: code() } }, context()));
});

test('A recovery code passes once over all processes and spellings', async (t) => {
  const { stores, caller, context, recoveryCodes, passSecondFactor } = await givenTotp();
  const [first = '', second = ''] = recoveryCodes;
  const spelled = [first, first.toLowerCase(), first.replace('-', ' ')];
  const tried = await Promise.allSettled(
    spelled.map((recoveryCode) =>
      givenCommands(stores.anotherProcess()).passSecondFactor(
        { ...caller, factor: { recoveryCode } },
        context(),
      ),
    ),
  );
  t.is(tried.filter(({ status }) => status === 'fulfilled').length, 1);
  const again = passSecondFactor({ ...caller, factor: { recoveryCode: first } }, context());
  t.is(await outcomeOf(again), 'second_factor_refused');
  t.truthy(await passSecondFactor({ ...caller, factor: { recoveryCode: second } }, context()));
});

test('A recovery code of another user is refused', async (t) => {
  const { stores, caller, context, passSecondFactor, register, enrolTotp, confirmTotp } = await givenTotp();
  const bob = { ...credentials, ...client, email: 'bob@example.com' };
  const { user } = await register(bob, context());
  const { secret } = await enrolTotp({ userId: user.id }, context());
  const code = totpCode(secret, stores.clock.now());
  const [his = ''] = (await confirmTotp({ ...caller, userId: user.id, code }, context())) ?? [];
  const factor = { recoveryCode: his };
  t.is(await outcomeOf(passSecondFactor({ ...caller, factor }, context())), 'second_factor_refused');
  t.truthy(await passSecondFactor({ ...caller, userId: user.id, factor }, context()));
});

test('A used code counts as a failure, and nothing counts where no second factor is on', async (t) => {
  const { stores, caller, context, code, passSecondFactor, removeTotp } = await givenTotp();
  const factor = { code: code() };
  const outcome = () => outcomeOf(passSecondFactor({ ...caller, factor }, context()));
  t.is(await outcome(), 'passed');
  for (let index = 0; index < 5; index += 1) t.is(await outcome(), 'second_factor_refused');
  t.is(await outcome(), 'TooManyAttempts');
  stores.clock.advance(30_000);
  await removeTotp({ ...caller, factor: { code: code() } }, context());
  for (let index = 0; index < 7; index += 1) t.is(await outcome(), 'totp_not_on');
});

test('Of wrong codes from many clients 56 are checked in a day, and the owner passes from a known device', async (t) => {
  const { stores, caller, context, code, recoveryCodes, passSecondFactor, background } = await givenTotp();
  const pass = (clientIp: string, factor: TypedFactor, known: KnownDevice | null = null) =>
    outcomeOf(passSecondFactor({ ...caller, client: { ip: clientIp, known }, factor }, context()));
  const outcomes = [];
  for (let n = 0; n < 60; n += 1) outcomes.push(await pass(`198.51.100.${n}`, { code: otherThan(code()) }));
  t.is(outcomes.filter((one) => one === 'second_factor_refused').length, 56);
  t.is(await pass('192.0.2.9', { code: code() }), 'TooManyAttempts');
  t.is(await pass('192.0.2.9', { recoveryCode: recoveryCodes[0] ?? '' }), 'passed');
  t.is(await pass('198.51.100.1', { code: code() }, { id: 'a phone', of: caller.userId }), 'passed');
  // Then an event tells the owner: the guesser has the password.
  await background.settled();
  const events = await stores.eventStore.read(`user-${caller.userId}`);
  t.deepEqual(events.find(({ type }) => type === 'GuessingLimitReached')?.data, { secret: 'totp' });
});

test('A session that is refreshed at the same moment is strengthened', async (t) => {
  const { stores, caller, context, code, first, passSecondFactor, refreshTokens } = await givenTotp();
  const now = stores.clock.now();
  const next = refreshTokens.derive(first);
  const { handler } = stores.anotherProcess();
  const [strengthened] = await Promise.all([
    passSecondFactor({ ...caller, factor: { code: code() } }, context()),
    handler
      .handle(
        { aggregate: sessionAggregate, id: caller.sessionId },
        {
          type: 'Refresh',
          presented: { generation: 1, digest: refreshTokens.digest(first) },
          successor: {
            refresh_generation: 2,
            refresh_key_id: next.kid,
            refresh_token_digest: next.digest,
            idle_expires_at: new Date(now.getTime() + 1e9).toISOString(),
          },
          now,
        },
        context(),
      )
      .catch((error: unknown) => error),
  ]);
  const { state } = await stores.handler.load(sessionAggregate, caller.sessionId);
  t.is(
    state.status === 'started' && state.refresh.refresh_token_digest,
    refreshTokens.digest(strengthened.tokens.refresh_token),
    'the tokens that were returned last are valid',
  );
});
