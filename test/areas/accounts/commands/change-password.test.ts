import test from 'ava';
import { CommandRejected, StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import { sessionHolds } from '../../../../src/areas/accounts/domain/guard.js';
import { type RegisteredUser, userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { TooManyAttempts } from '../../../../src/areas/shared/rejections.js';
import type { SessionAccess } from '../../../../projections/accounts/sessions/reader.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { client, givenAccount } from '../../../support/given/given-account.js';
import { beforeCommands, losableDocuments } from '../../../support/given/interrupted-stores.js';
import { outcomeOf } from '../../../support/given/outcome-of.js';

const email = 'ada.lovelace@example.com';
const password = 'Correct-Horse-7';
const newPassword = 'Better-Horse-8';

/** Signs Ada in twice. The second session changes the password. */
async function given(storeOptions?: Parameters<typeof givenAccount>[0]) {
  const commands = await givenAccount(storeOptions, {}, { email });
  const { next, userId, sessionId: otherId, sessionOf } = commands;
  const second = await commands.login({ email, password, ...client }, next());
  const id = sessionOf(second.tokens.refresh_token);
  const session = { id, ...(await accessOf(id)) };
  const change = (more: object = {}, process: Pick<typeof commands, 'changePassword'> = commands) =>
    process.changePassword(
      { userId, session, currentPassword: password, newPassword, client: client.client, ...more },
      next(),
    );
  const outcome = (more?: object) => outcomeOf(change(more));
  const passes = async (sessionId: string) => {
    const [access, holder] = [await commands.sessions.access(sessionId), await commands.users.access(userId)];
    return access !== null && holder !== null && sessionHolds(holder, { id: sessionId, epoch: access.epoch });
  };
  return { ...commands, id, otherId, session, change, outcome, passes, accessOf };

  async function accessOf(sessionId: string): Promise<SessionAccess> {
    const access = await commands.sessions.access(sessionId);
    if (access === null) throw new Error('the session does not exist');
    return access;
  }
}

test('A session that stayed after a change ends with the next change from another session', async (t) => {
  const { change, passes, id, login, next, sessionOf, accessOf } = await given();
  await change();
  const third = await login({ email, password: newPassword, ...client }, next());
  const thirdId = sessionOf(third.tokens.refresh_token);
  const session = { id: thirdId, ...(await accessOf(thirdId)) };
  await change({ session, currentPassword: newPassword, newPassword: 'Third-Horse-9' });
  t.true(await passes(thirdId));
  t.false(await passes(id));
});

test('A wrong current password is refused and throttled like a sign-in', async (t) => {
  const { outcome, passes, otherId, change, stores } = await given();
  for (let failure = 0; failure < 5; failure += 1) {
    t.is(await outcome({ currentPassword: 'Wrong-Horse-7' }), 'credentials_refused');
  }
  const error = await t.throwsAsync(change(), { instanceOf: TooManyAttempts });
  t.is(error.retryAfterSeconds, 1);
  t.true(await passes(otherId), 'the other session still holds');
  stores.clock.advance(1_000);
  t.is(await outcome(), 'passed');
});

test('The current password is optional for 15 min after a sign-in by a mailed code, to the millisecond', async (t) => {
  const without = { currentPassword: undefined };
  const byPassword = await given();
  t.is(await byPassword.outcome(without), 'invalid_request');
  for (const [afterMs, expected] of [
    [900_000, 'passed'],
    [900_001, 'invalid_request'],
    // The code was proved while the clock was ahead.
    [-900_001, 'invalid_request'],
  ] as const) {
    const { outcome, session, stores } = await given();
    const byCode = { ...session, emailCodeAt: stores.clock.now() };
    stores.clock.advance(afterMs);
    t.is(await outcome({ ...without, session: byCode }), expected);
    t.is(await outcome({ session: byCode, currentPassword: 'Wrong-Horse-7' }), 'credentials_refused');
  }
});

test('A new password that breaks the rules is refused and does not count as a failure', async (t) => {
  const { change, outcome } = await given();
  for (const [bad, message] of [
    ['short', /^new_password must have at least 10/],
    ['no-upper-case-1', /^new_password /],
    ['x-Ada.Lovelace-1', /^new_password must not contain the part of the e-mail address/],
  ] as const) {
    for (let repeat = 0; repeat < 3; repeat += 1) {
      const error = await t.throwsAsync(change({ newPassword: bad, currentPassword: 'Wrong-Horse-7' }), {
        instanceOf: CommandRejected,
        message,
      });
      t.is(error.code, 'invalid_request');
    }
  }
  t.is(await outcome(), 'passed');
});

test('A change of password is decided again after a concurrent rehash, and succeeds', async (t) => {
  const { stores, next, userId, change, login, passwords } = await given();
  const { handler, sealer } = stores;
  let rehashes = 0;
  const rehash = async () => {
    if (rehashes === 2) return;
    rehashes += 1;
    const { password_hash } = (await handler.load(userAggregate, userId)).state as RegisteredUser;
    const hash = await passwords.hash(password);
    const again = await sealer.seal({ kind: 'person', userId }, 'password_hash', hash);
    const command = { type: 'RehashPassword', password_hash: again } as const;
    const checkedAgainst = password_hash ?? again;
    await handler.handle({ aggregate: userAggregate, id: userId }, { ...command, checkedAgainst }, next());
  };
  await change({}, givenCommands(beforeCommands(stores, rehash)));
  t.is(rehashes, 2);
  await t.notThrowsAsync(login({ email, password: newPassword, ...client }, next()));
});

test('One of two concurrent changes from two sessions succeeds, and the other is refused', async (t) => {
  const { change, session, otherId, id, accessOf, passes, stores } = await given();
  const other = { id: otherId, ...(await accessOf(otherId)) };
  const process = givenCommands(stores.anotherProcess());
  const outcomes = await Promise.all([
    outcomeOf(change({ session })),
    outcomeOf(change({ session: other, newPassword: 'Third-Horse-9' }, process)),
  ]);
  t.is(outcomes.filter((one) => one === 'passed').length, 1);
  const refused = outcomes.find((one) => one !== 'passed') ?? '';
  t.true(['session_ended', 'credentials_refused'].includes(refused), refused);
  t.deepEqual([await passes(id), await passes(otherId)].sort(), [false, true]);
});

test('An ended session changes no password', async (t) => {
  const { outcome, logout, userId, otherId, next } = await given();
  await logout({ userId, sessionId: otherId, all: true }, next());
  t.is(await outcome(), 'session_ended');
});

test('A change of password finds no user when the account is erased during it', async (t) => {
  const { stores, change, userId, eraseUser, next } = await given();
  const open: typeof stores.sealer.open = async (...sealed) => {
    await eraseUser({ userId }, next());
    return stores.sealer.open(...sealed);
  };
  const overtaken = givenCommands({ ...stores, sealer: { ...stores.sealer, open } });
  t.is(await outcomeOf(change({}, overtaken)), 'user_not_found');
});

test('The service does not acknowledge a change of password while the read-model store is away', async (t) => {
  const { lost, options } = losableDocuments();
  const { change } = await given(options);
  lost.prefix = '';
  await t.throwsAsync(change(), { instanceOf: StoreUnavailable });
});

test('A current password whose pepper is missing is refused with its reason, and a mailed code replaces it', async (t) => {
  const { stores, change, session, next, login } = await given();
  const without = givenCommands(stores, { peppers: ['p2'] });
  const error = await t.throwsAsync(change({}, without), {
    instanceOf: CommandRejected,
    message: /^current_password cannot be checked any more; sign in by a mailed code/,
  });
  t.is(error.code, 'password_not_checkable');
  t.regex(String(without.failures[0]), /pepper p1 is not in PEPPERS/);
  const byCode = { ...session, emailCodeAt: stores.clock.now() };
  await change({ session: byCode, currentPassword: undefined }, without);
  await t.notThrowsAsync(without.login({ email, password: newPassword, ...client }, next()));
  const refused = login({ email, password: newPassword, ...client }, next());
  await t.throwsAsync(refused, { instanceOf: CommandRejected });
});
