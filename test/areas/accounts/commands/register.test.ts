import test from 'ava';
import { decodeJwt } from 'jose';
import { logOf } from '../../../support/given/log.js';
import { CommandRejected, OutcomeUnknown } from '../../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import { derivedId } from '../../../../src/event-sourcing/deciding/command-handler.js';
import { sealedSchema } from '../../../../src/event-sourcing/ports/events.js';
import { emailAggregate } from '../../../../src/areas/accounts/domain/email/email.js';
import { sessionAggregate } from '../../../../src/areas/accounts/domain/session/session.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { makeSessions } from '../../../../src/areas/accounts/commands/signing-in/sessions.js';
import { type RingKey, makeKeyring } from '../../../../src/keys/rings/keyring.js';
import { makeRefreshTokens } from '../../../../src/keys/codes/refresh-tokens.js';
import { userId as someUserId } from '../../../support/examples/ids.js';
import { defaultCapacityBytes, givenCommands } from '../../../support/given/given-commands.js';
import { givenContext, givenStores } from '../../../support/given/given-stores.js';

const password = 'Correct-Horse-7';
const client = { client: { ip: '192.0.2.1', known: null }, userAgent: 'curl/8.5.0' };
const input = { email: ' Ada@Example.com', password, nickname: 'Ada', ...client };
const firstAt = new Date('2026-01-02T03:04:05.000Z');

async function given(wrap?: (store: EventStore) => EventStore) {
  const stores = await givenStores(wrap === undefined ? {} : { wrap });
  const digest = stores.digests.email('ada@example.com');
  return { stores, digest, ...givenCommands(stores) };
}

test('A registration returns the user and valid tokens', async (t) => {
  const { register, users, accessTokens, refreshTokens, sessions } = await given();
  const context = givenContext(1, firstAt);
  const { user, tokens } = await register(input, context);
  const userId = derivedId(context, 'user');
  t.deepEqual(user, {
    id: userId,
    email: 'Ada@Example.com',
    nickname: 'Ada',
    email_verified: false,
    two_factor_enabled: false,
    capacity_bytes: defaultCapacityBytes,
    used_bytes: 0,
    created_at: firstAt.toISOString(),
  });
  t.deepEqual((await users.find(userId))?.resource, user, 'a later read returns the same');

  t.like(tokens, { token_type: 'Bearer', expires_in: 600, refresh_expires_in: 1_209_600 });
  const verdict = await accessTokens.verify(tokens.access_token);
  t.like(verdict, { valid: true, claims: { userId } });
  t.like(decodeJwt(tokens.access_token), { amr: ['pwd'], auth_time: firstAt.getTime() / 1_000 });
  const sessionId = refreshTokens.verify(tokens.refresh_token)?.sessionId ?? '';
  t.like(await sessions.access(sessionId), {
    userId,
    epoch: 0,
    proofs: { authenticatedAt: firstAt, passedAt: { totp: null, passkey: null } },
  });
});

test('An address that the mail server cannot take is refused at a registration and at a change of address', async (t) => {
  const stores = await givenStores();
  const cannotMail = (address: string) => Promise.resolve(/ü/.test(address));
  const { register, requestEmailChange } = givenCommands(stores, { cannotMail });
  const refused = { instanceOf: CommandRejected, message: /^email must have only ASCII characters/ };
  await t.throwsAsync(register({ ...input, email: 'jürgen@example.com' }, givenContext(1, firstAt)), refused);
  const { user } = await register(input, givenContext(2, firstAt));
  const change = { userId: user.id, email: 'jürgen@example.com' };
  await t.throwsAsync(requestEmailChange(change, givenContext(3, firstAt)), refused);
});

test('A registration makes three appends: the address, the user with capacity, and the session', async (t) => {
  const { register, stores, digest, refreshTokens, passwords } = await given();
  const { user, tokens } = await register(input, givenContext(1, firstAt));
  const log = await logOf(stores);
  t.deepEqual(
    log.map(({ stream, type }) => [stream.split('-')[0], type]),
    [
      ['email', 'EmailReserved'],
      ['user', 'UserRegistered'],
      ['user', 'CapacityGranted'],
      ['user', 'EmailVerificationRequested'],
      ['session', 'SessionStarted'],
    ],
  );
  t.is(log[0]?.stream, `email-${digest}`);
  t.deepEqual(log[0]?.data, { user_id: user.id, change_id: null });
  t.deepEqual(log[2]?.data, { source: 'registration', bytes: defaultCapacityBytes });
  t.like(log[3]?.data, { email_digest: digest, expires_at: '2026-01-03T03:04:05.000Z' });
  t.like(log[4]?.data, {
    user_id: user.id,
    epoch: 0,
    amr: ['pwd'],
    refresh_generation: 1,
    refresh_token_digest: refreshTokens.digest(tokens.refresh_token),
    idle_expires_at: '2026-01-16T03:04:05.000Z',
    expires_at: '2026-04-02T03:04:05.000Z',
    client_ip_digest: stores.digests.ip('192.0.2.1'),
  });

  const { state } = await stores.handler.load(userAggregate, user.id);
  t.like(state, { status: 'registered', email_digest: digest });
  const sealed = sealedSchema.parse(log[1]?.data['password_hash']);
  const hash = await stores.sealer.open({ kind: 'person', userId: user.id }, 'password_hash', sealed);
  t.true((await passwords.verify(password, String(hash))).matches);
});

test('The log contains no personal data and no secret in clear text', async (t) => {
  const { register, stores } = await given();
  const { tokens } = await register({ ...input, nickname: 'Canary-Nick' }, givenContext(1, firstAt));
  const text = JSON.stringify(await logOf(stores), (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  ).toLowerCase();
  for (const secret of [
    'example.com',
    'canary-nick',
    password,
    '192.0.2.1',
    'scrypt',
    tokens.refresh_token,
  ]) {
    t.false(text.includes(secret.toLowerCase()), secret);
  }
});

test('A repeated command returns the same user and session, and appends nothing', async (t) => {
  const { register, stores } = await given();
  const context = givenContext(1, firstAt);
  const first = await register(input, context);
  const before = await logOf(stores);
  const second = await register(input, context);
  t.deepEqual(second.user, first.user);
  t.is(second.tokens.refresh_token, first.tokens.refresh_token);
  t.deepEqual(await logOf(stores), before);
});

test('A repetition completes a registration after any number of its appends', async (t) => {
  for (let appends = 0; appends < 3; appends += 1) {
    let left = appends;
    let broken = true;
    const { register, stores } = await given((store) => ({
      ...store,
      append: (stream, expected, events) => {
        if (broken && left === 0) return Promise.reject(new OutcomeUnknown('frozen'));
        left -= 1;
        return store.append(stream, expected, events);
      },
    }));
    const context = givenContext(1, firstAt);
    await t.throwsAsync(register(input, context), { instanceOf: OutcomeUnknown });
    broken = false;
    const { user } = await register(input, context);
    t.is(user.email, 'Ada@Example.com');
    t.is((await logOf(stores)).length, 5);
  }
});

test('Lost acknowledgements do not change the result', async (t) => {
  const lost = new Set<string>();
  const { register, stores } = await given((store) => ({
    ...store,
    append: async (stream, expected, events) => {
      const appended = await store.append(stream, expected, events);
      if (lost.has(stream)) return appended;
      lost.add(stream);
      throw new OutcomeUnknown('the acknowledgement was lost');
    },
  }));
  const { user } = await register(input, givenContext(1, firstAt));
  t.is(user.email, 'Ada@Example.com');
  t.is(lost.size, 3);
  t.is((await logOf(stores)).length, 5);
});

test('A taken address is refused in every spelling', async (t) => {
  const { register, stores } = await given();
  await register(input, givenContext(1, firstAt));
  const before = await logOf(stores);
  for (const [n, email] of ['ada@example.com', 'ADA@EXAMPLE.COM', '\tAda@example.COM '].entries()) {
    await t.throwsAsync(register({ ...input, email }, givenContext(2 + n, firstAt)), {
      instanceOf: CommandRejected,
      message: /^there is an account with this address/,
    });
  }
  t.deepEqual(await logOf(stores), before);
});

test('A refusal computes a hash and leaves no key', async (t) => {
  const { stores, findAccount } = await given();
  let hashes = 0;
  const commands = givenCommands(stores, { onHash: () => void (hashes += 1) });
  await commands.register(input, givenContext(1, firstAt));
  const keys = async () => (await stores.stateStore.list('data-key/', { limit: 10 })).length;
  t.is(await keys(), 1);
  t.is(hashes, 1);
  await t.throwsAsync(commands.register(input, givenContext(2, firstAt)), { instanceOf: CommandRejected });
  t.is(hashes, 2);
  t.is(await keys(), 1);
  t.truthy(await findAccount(stores.digests.email('ada@example.com')));
});

/** Reserves the address for a user whose registration then stops. */
async function givenReservation(n = 7) {
  const world = await given();
  const context = givenContext(n, world.stores.clock.now());
  const userId = derivedId(context, 'user');
  await world.reservations.reserve(world.digest, { userId, change_id: null }, context);
  return { ...world, slow: context, slowUserId: userId };
}

test('An address with a registration in progress is refused for a minute', async (t) => {
  const { register, stores, findAccount, digest } = await givenReservation();
  stores.clock.advance(59_999);
  const context = givenContext(1, stores.clock.now());
  await t.throwsAsync(register(input, context), { instanceOf: CommandRejected });
  t.is(await findAccount(digest), null);
});

test('An unfinished registration is abandoned after a minute, and the next one gets its address', async (t) => {
  const { register, stores, findAccount, digest, slowUserId } = await givenReservation();
  stores.clock.advance(60_000);
  const { user } = await register(input, givenContext(1, stores.clock.now()));
  t.is((await findAccount(digest))?.userId, user.id);
  t.like(await stores.handler.load(userAggregate, slowUserId), { state: { status: 'abandoned' } });
  t.like(await stores.handler.load(emailAggregate, digest), { state: { user_id: user.id, revision: 1n } });
});

test('An address whose registration ended half done while the clock was a year ahead is free once the clock is put right', async (t) => {
  const { register, stores, findAccount, digest } = await givenReservation();
  stores.clock.advance(-365 * 86_400_000);
  const { user } = await register(input, givenContext(1, stores.clock.now()));
  t.is((await findAccount(digest))?.userId, user.id);
});

test('A slow registration that was abandoned is refused at any later time', async (t) => {
  const { register, stores, findAccount, digest, slow } = await givenReservation();
  stores.clock.advance(60_000);
  const { user } = await register(input, givenContext(1, stores.clock.now()));
  await t.throwsAsync(register(input, slow), { instanceOf: CommandRejected });
  t.is((await findAccount(digest))?.userId, user.id);
});

test('A slow registration that was abandoned is refused even if the address is still free', async (t) => {
  const { register, stores, slow, slowUserId } = await givenReservation();
  const target = { aggregate: userAggregate, id: slowUserId };
  await stores.handler.handle(target, { type: 'AbandonRegistration' }, givenContext(8, firstAt));
  await t.throwsAsync(register(input, slow), { instanceOf: CommandRejected });
  t.like(await register(input, givenContext(9, stores.clock.now())), { user: { nickname: 'Ada' } });
});

test('A registration that finishes before another attempt keeps the address', async (t) => {
  const { register, stores, slow, slowUserId } = await givenReservation();
  stores.clock.advance(3_600_000);
  t.is((await register(input, slow)).user.id, slowUserId);
  await t.throwsAsync(register(input, givenContext(1, stores.clock.now())), { instanceOf: CommandRejected });
});

test('A repetition does not revive an ended session', async (t) => {
  const { register, stores, refreshTokens } = await given();
  const context = givenContext(1, firstAt);
  const { tokens } = await register(input, context);
  const id = refreshTokens.verify(tokens.refresh_token)?.sessionId ?? '';
  const revoke = { type: 'Revoke', reason: 'signed_out' } as const;
  await stores.handler.handle({ aggregate: sessionAggregate, id }, revoke, givenContext(2, firstAt));
  const error = await t.throwsAsync(register(input, context), { instanceOf: CommandRejected });
  t.is(error.code, 'session_not_found');
});

test('A repetition after a rotation of the keys returns the token that the session keeps', async (t) => {
  const { stores, ...made } = await given();
  const [before, after] = [
    { kid: 'r1', key: Buffer.alloc(32, 1) },
    { kid: 'r2', key: Buffer.alloc(32, 2) },
  ];
  const start = (keys: readonly RingKey[]) => {
    const refreshTokens = makeRefreshTokens(makeKeyring(keys));
    const { startSession } = makeSessions({ ...made, ...stores, refreshTokens });
    const session = {
      userId: someUserId,
      epoch: 0,
      methods: ['pwd'],
      client: null,
      userAgent: null,
    } as const;
    return startSession(session, givenContext(1, firstAt));
  };
  const first = await start([before]);
  const second = await start([after, before]);
  t.is(second.tokens.refresh_token, first.tokens.refresh_token);
});

const refused: readonly [string, Partial<typeof input>, RegExp][] = [
  ['an address without a host', { email: 'ada' }, /^email /],
  ['an empty address', { email: '' }, /^email /],
  ['a short password', { password: 'Ab1!' }, /^password /],
  ['a password without symbols', { password: 'Correcthorse7' }, /^password /],
  [
    'the local part in the password',
    { email: 'adalovelace@example.com', password: 'x-AdaLovelace-1' },
    /^password /,
  ],
  ['a long nickname', { nickname: 'x'.repeat(51) }, /^nickname /],
  ['a long blank nickname', { nickname: ' '.repeat(51) }, /^nickname /],
  ['a control character in the nickname', { nickname: 'a\u0007' }, /^nickname /],
];

for (const [what, changes, message] of refused) {
  test(`A registration with ${what} is refused and appends nothing`, async (t) => {
    const { register, stores } = await given();
    const context = givenContext(1, firstAt);
    const error = await t.throwsAsync(register({ ...input, ...changes }, context), {
      instanceOf: CommandRejected,
      message,
    });
    t.is(error.code, 'invalid_request');
    t.deepEqual(await logOf(stores), []);
  });
}

test('A registration without a nickname uses at most 50 characters of the local part', async (t) => {
  const { register } = await given();
  const { email } = input;
  t.is((await register({ email, password, ...client }, givenContext(1, firstAt))).user.nickname, 'Ada');
  const long = { email: `${'l'.repeat(64)}@example.com`, password, nickname: ' ', ...client };
  t.is((await register(long, givenContext(2, firstAt))).user.nickname, 'l'.repeat(50));
});
