import test from 'ava';
import { CommandRejected, StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import { emailAggregate } from '../../../../src/areas/accounts/domain/email/email.js';
import { type RegisteredUser, userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { TooManyAttempts } from '../../../../src/areas/shared/rejections.js';
import { sealedSchema } from '../../../../src/event-sourcing/ports/events.js';
import type { ScryptInput } from '../../../../src/security/passwords/scrypt.js';
import { client, credentials, givenAccount } from '../../../support/given/given-account.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { beforeCommands } from '../../../support/given/interrupted-stores.js';
import { logOf } from '../../../support/given/log.js';
import { outcomeOf } from '../../../support/given/outcome-of.js';

const { email, password } = credentials;
const right = { ...credentials, ...client, userAgent: 'curl/8.5.0' };
const wrong = { ...right, password: 'Wrong-Horse-7' };
const unknown = { ...right, email: 'nobody@example.com' };

async function storedHash({ stores, userId }: Awaited<ReturnType<typeof givenAccount>>): Promise<string> {
  const { state } = await stores.handler.load(userAggregate, userId);
  const { password_hash } = state as RegisteredUser;
  if (password_hash === null) return 'none';
  return String(await stores.sealer.open({ kind: 'person', userId }, 'password_hash', password_hash));
}

test('A wrong password and an unknown address lead to the same refusal and the same work', async (t) => {
  const reads: string[] = [];
  const appends: string[] = [];
  const wrap = (store: EventStore): EventStore => ({
    ...store,
    read: (stream, options) => {
      reads.push(stream);
      return store.read(stream, options);
    },
    append: (stream, expected, events) => {
      appends.push(stream);
      return store.append(stream, expected, events);
    },
  });
  const hashes: object[] = [];
  const onHash = ({ N, r, p, length }: ScryptInput) => hashes.push({ N, r, p, length });
  const { login, next } = await givenAccount({ wrap }, { onHash: (input) => void onHash(input) });
  // One attempt each comes first, so that the following attempts find the state of every later attempt.
  for (const input of [wrong, unknown]) await t.throwsAsync(login(input, next()));
  const observe = async (input: typeof right) => {
    for (const list of [reads, appends, hashes]) list.length = 0;
    const error = await t.throwsAsync(login(input, next()), { instanceOf: CommandRejected });
    return {
      code: String(error.code),
      message: error.message,
      reads: reads.length,
      appends: [...appends],
      hashes: [...hashes],
    };
  };
  const known = await observe(wrong);
  t.deepEqual(known, await observe(unknown));
  t.is(known.code, 'credentials_refused');
  t.is(known.hashes.length, 1);
  t.is(known.reads, 2);
  t.deepEqual(known.appends, []);
});

test('A malformed address is refused with its reason and does not count as a failure', async (t) => {
  const { login, next, stores } = await givenAccount();
  const error = await t.throwsAsync(login({ ...right, email: 'ada' }, next()), {
    instanceOf: CommandRejected,
    message: /^email /,
  });
  t.is(error.code, 'invalid_request');
  t.is((await stores.stateStore.list('tries/', { limit: 10 })).length, 0);
});

test('A client waits 1 s after 5 failures, doubling to 15 min, and no other client waits', async (t) => {
  const { login, next, stores } = await givenAccount();
  const fail = (input = wrong) => t.throwsAsync(login(input, next()));
  for (let failure = 0; failure < 5; failure += 1) t.true((await fail()) instanceof CommandRejected);
  const waits: number[] = [];
  for (let failure = 0; failure < 12; failure += 1) {
    const error = await fail(right);
    if (!(error instanceof TooManyAttempts)) return t.fail('the attempt was not throttled');
    waits.push(error.retryAfterSeconds);
    stores.clock.advance(error.retryAfterSeconds * 1_000 - 1);
    t.true((await fail(right)) instanceof TooManyAttempts, 'an attempt a millisecond too early is refused');
    stores.clock.advance(1);
    t.true((await fail()) instanceof CommandRejected);
  }
  t.deepEqual(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
  t.true((await fail({ ...wrong, email: 'bob@example.com' })) instanceof CommandRejected);
  await t.notThrowsAsync(login({ ...right, client: { ip: '192.0.2.2', known: null } }, next()));
  // After the wait, the right password is accepted and clears the failures.
  stores.clock.advance(900_000);
  await login(right, next());
  for (let failure = 0; failure < 5; failure += 1) t.true((await fail()) instanceof CommandRejected);
  t.true((await fail()) instanceof TooManyAttempts);
  return undefined;
});

test('A sign-in with an older pepper or other parameters hashes the password again, once', async (t) => {
  const old = { parameters: { N: 2, r: 1, p: 1 }, peppers: ['p1'] };
  for (const [what, passwords] of [
    ['other parameters', { ...old, parameters: { N: 4, r: 1, p: 1 } }],
    ['a newer pepper', { ...old, peppers: ['p2', 'p1'] }],
  ] as const) {
    const world = await givenAccount({}, old);
    const later = givenCommands(world.stores, passwords);
    const before = await storedHash(world);
    await t.throwsAsync(later.login(wrong, world.next()), { instanceOf: CommandRejected });
    t.is(await storedHash(world), before, 'a wrong password leads to no rehash');
    const first = await later.login(right, world.next());
    const after = await storedHash(world);
    t.regex(after, what === 'a newer pepper' ? /keyid=p2/ : /ln=2,/);
    t.true((await later.passwords.verify(password, after)).matches);
    await later.login(right, world.next());
    t.is(await storedHash(world), after);
    const { state } = await world.stores.handler.load(userAggregate, world.userId);
    t.like(state, { epoch: 0 }, 'a rehash ends no session');
    t.like(await later.refresh({ refreshToken: first.tokens.refresh_token }, world.next()), {
      token_type: 'Bearer',
    });
    t.deepEqual(later.failures, []);
  }
});

test('A failed rehash is reported, and the sign-in succeeds', async (t) => {
  let broken = false;
  const wrap = (store: EventStore): EventStore => ({
    ...store,
    append: (stream, expected, events) =>
      broken && events.some(({ type }) => type === 'PasswordRehashed')
        ? Promise.reject(new StoreUnavailable('away'))
        : store.append(stream, expected, events),
  });
  const world = await givenAccount({ wrap }, { parameters: { N: 2, r: 1, p: 1 } });
  const later = givenCommands(world.stores, { parameters: { N: 4, r: 1, p: 1 } });
  broken = true;
  t.is((await later.login(right, world.next())).user.id, world.userId);
  t.is(later.failures.length, 1);
});

test('A session of a sign-in beside a change of password is refused at its next request', async (t) => {
  const world = await givenAccount();
  const { login, stores, next, userId, refresh, sessionOf, sessions, users } = world;
  const { handler, sealer } = stores;
  const hash = await world.passwords.hash('Other-Horse-8');
  const password_hash = await sealer.seal({ kind: 'person', userId }, 'password_hash', hash);
  const kept = { id: '018f0000-0000-7000-8000-00000000abcd', epoch: 0 };
  const user = { aggregate: userAggregate, id: userId };
  const command = { type: 'ChangePassword', password_hash, checkedAgainst: null, session: kept } as const;
  const change = () => handler.handle(user, command, next(), { revokesAccess: true });
  const startSlowly = givenCommands(
    beforeCommands(stores, (category) => (category === 'session' ? change() : undefined)),
  );
  const { tokens } = await startSlowly.login(right, next());
  const sessionId = sessionOf(tokens.refresh_token);
  t.like(await sessions.access(sessionId), { epoch: 0 });
  t.like(await users.access(userId), { epoch: 1, kept_session_id: kept.id });
  const refreshed = refresh({ refreshToken: tokens.refresh_token }, next());
  t.is(await outcomeOf(refreshed), 'session_over');
  await t.throwsAsync(login(right, next()), { instanceOf: CommandRejected }, 'the password is another now');
});

test('A sign-in beside an erasure leaves no valid session of the user', async (t) => {
  const { login, stores, next, userId, users } = await givenAccount();
  const erase = async () => {
    await stores.handler.handle({ aggregate: userAggregate, id: userId }, { type: 'Erase' }, next());
    await stores.sealer.destroy({ kind: 'person', userId });
  };
  const world = givenCommands(
    beforeCommands(stores, (category) => (category === 'session' ? erase() : undefined)),
  );
  t.is(await outcomeOf(world.login(right, next())), 'credentials_refused');
  t.is(await users.access(userId), null);
  await t.throwsAsync(login(right, next()), { instanceOf: CommandRejected });
});

test('A sign-in beside an erasure seals nothing more for the person', async (t) => {
  const { stores, next, userId } = await givenAccount();
  const { sealer, handler } = stores;
  const world = givenCommands({
    ...stores,
    sealer: {
      ...sealer,
      seal: async (scope, field, text) => {
        if (field === 'user_agent') {
          await handler.handle({ aggregate: userAggregate, id: userId }, { type: 'Erase' }, next());
          await sealer.destroy({ kind: 'person', userId });
        }
        return sealer.seal(scope, field, text);
      },
    },
  });
  t.is(await outcomeOf(world.login(right, next())), 'credentials_refused');
});

test('An address of another user signs in that user', async (t) => {
  const { login, register, stores, next, userId } = await givenAccount();
  await stores.handler.handle({ aggregate: userAggregate, id: userId }, { type: 'Erase' }, next());
  const { user } = await register({ ...right, password: 'Other-Horse-8' }, next());
  t.not(user.id, userId);
  await t.throwsAsync(login(right, next()), { instanceOf: CommandRejected });
  t.is((await login({ ...right, password: 'Other-Horse-8' }, next())).user.id, user.id);
  const { state } = await stores.handler.load(emailAggregate, stores.digests.email(email));
  t.like(state, { user_id: user.id });
});

test('The log contains nothing of a sign-in in clear text', async (t) => {
  const { login, stores, next } = await givenAccount();
  const { tokens } = await login(right, next());
  const events = await logOf(stores);
  const text = JSON.stringify(events.map(({ data }) => data)).toLowerCase();
  for (const secret of ['example.com', password, '192.0.2.1', 'curl', tokens.refresh_token]) {
    t.false(text.includes(secret.toLowerCase()), secret);
  }
  t.true(sealedSchema.safeParse(events.at(-1)?.data['user_agent']).success);
});
