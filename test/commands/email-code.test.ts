import test from 'ava';
import type { Clock } from '../../src/event-sourcing/clock.js';
import { Overloaded, StoreUnavailable } from '../../src/event-sourcing/errors.js';
import type { EventStore } from '../../src/event-sourcing/event-store.js';
import { loginCodeAggregate } from '../../src/domain/login-code/login-code.js';
import { userAggregate } from '../../src/domain/user/user.js';
import { makeBackground } from '../../src/commands/background.js';
import { makeSendEmailCode } from '../../src/commands/send-email-code.js';
import { makeFindAccount } from '../../src/commands/find-account.js';
import { makeVirtualClock } from '../event-sourcing/support/virtual-clock.js';
import { totpCode } from '../support/authenticator-app.js';
import { makeTestClock } from '../support/clock.js';
import { givenCommands } from '../support/given-commands.js';
import { givenContext, givenStores } from '../support/given-stores.js';
import { outcomeOf } from '../support/outcome-of.js';

const email = 'ada@example.com';
const password = 'Correct-Horse-7';
const client = { clientIp: '192.0.2.1', userAgent: null };

/** Ada has registered; waiting takes no time, so that only the test moves it. */
async function given() {
  const moving = makeTestClock();
  const clock = { ...moving, sleep: () => Promise.resolve() };
  const stores = await givenStores({ clock });
  const commands = givenCommands(stores);
  let commandsSoFar = 0;
  const next = () => givenContext((commandsSoFar += 1), clock.now());
  const { user } = await commands.register({ email, password, ...client }, next());
  const digest = stores.digests.email(email);
  /** Asks for a code; what would be mailed, or null. */
  const send = async (address = email): Promise<string | null> => {
    const before = (await loadIssue())?.issueId;
    await commands.sendEmailCode({ email: address }, next());
    await commands.background.settled();
    const issue = await loadIssue();
    if (issue === null || issue.issueId === before) return null;
    return commands.loginCodes.codeFor({ kid: issue.codeKeyId, issueId: issue.issueId, emailDigest: digest });
  };
  const loadIssue = async () => (await stores.handler.load(loginCodeAggregate, digest)).state.issue;
  const signIn = (code: string, address = email, process = commands) =>
    process.loginByEmailCode({ email: address, code, ...client }, next());
  const outcome = (code: string, address = email, process = commands) =>
    outcomeOf(signIn(code, address, process));
  return { ...commands, stores, next, userId: user.id, digest, send, signIn, outcome, loadIssue };
}

/** A code that is not the right one. */
const other = (code: string | null, by = 1) => String((Number(code) + by) % 1_000_000).padStart(6, '0');

test('Given an account, when its owner asks for a code and uses it, then a session begins and the address is verified', async (t) => {
  const { send, signIn, stores, userId, accessTokens, refreshTokens, sessions, digest } = await given();
  const code = await send(' ADA@example.com');
  const { user, tokens } = await signIn(code ?? '');
  t.like(user, { id: userId, email, email_verified: true });
  const at = stores.clock.now();
  const verdict = await accessTokens.verify(tokens.access_token);
  t.like(verdict, { valid: true, claims: { userId, methods: ['email'], authenticatedAt: at } });
  const sessionId = refreshTokens.verify(tokens.refresh_token)?.sessionId ?? '';
  t.like(await sessions.access(sessionId), { userId, epoch: 1, methods: ['email'] });
  const stream = await stores.eventStore.read(`logincode-${digest}`);
  t.deepEqual(
    stream.map(({ type }) => type),
    ['LoginCodeIssued', 'LoginCodeUsed'],
  );
  const text = JSON.stringify(stream.map(({ data }) => data));
  t.false(
    text.includes(code ?? '') || text.includes('example.com'),
    'neither code nor address is in the log',
  );
});

test('A code works once, also for many at once in several processes', async (t) => {
  const { send, outcome, stores } = await given();
  const code = (await send()) ?? '';
  const processes = [stores, stores.anotherProcess(), stores.anotherProcess()].map((process) =>
    givenCommands(process),
  );
  const tries = Array.from({ length: 15 }, (_, index) => outcome(code, email, processes[index % 3]));
  const outcomes = await Promise.all(tries);
  t.is(outcomes.filter((one) => one === 'passed').length, 1);
  t.is(outcomes.filter((one) => one === 'credentials_refused').length, 14);
  t.is(await outcome(code), 'credentials_refused');
});

test('Of fifty guesses at once five count, and then the right code is refused', async (t) => {
  const { send, outcome, stores, loadIssue, digest } = await given();
  const code = await send();
  const processes = [stores, stores.anotherProcess(), stores.anotherProcess()].map((process) =>
    givenCommands(process),
  );
  const guesses = Array.from({ length: 50 }, (_, index) =>
    outcome(other(code, index + 1), email, processes[index % 3]),
  );
  t.deepEqual(new Set(await Promise.all(guesses)), new Set(['credentials_refused']));
  t.is((await loadIssue())?.attemptsFailed, 5);
  const stream = await stores.eventStore.read(`logincode-${digest}`);
  t.is(stream.filter(({ type }) => type === 'LoginCodeAttemptFailed').length, 5);
  t.is(await outcome(code ?? ''), 'credentials_refused');
});

test('Four wrong guesses leave the right one', async (t) => {
  const { send, outcome } = await given();
  const code = await send();
  for (let guess = 1; guess < 5; guess += 1) t.is(await outcome(other(code, guess)), 'credentials_refused');
  t.is(await outcome(code ?? ''), 'passed');
});

test('A guess whose append is lost is told neither right nor wrong, and a right one is not used twice', async (t) => {
  const { send, stores, next, outcome, ...commands } = await given();
  const code = (await send()) ?? '';
  const away = {
    ...stores.handler,
    handle: () => Promise.reject(new StoreUnavailable('away')),
  };
  const process = givenCommands({ ...stores, handler: away });
  for (const guess of [code, other(code)]) {
    await t.throwsAsync(process.loginByEmailCode({ email, code: guess, ...client }, next()), {
      instanceOf: StoreUnavailable,
    });
  }
  t.is(await outcome(code), 'passed');
  t.deepEqual(commands.failures, []);
});

test('A code ends ten minutes after it was issued, to the millisecond', async (t) => {
  for (const [afterMs, expected] of [
    [599_999, 'passed'],
    [600_000, 'credentials_refused'],
  ] as const) {
    const { send, outcome, stores } = await given();
    const code = await send();
    stores.clock.advance(afterMs);
    t.is(await outcome(code ?? ''), expected);
  }
});

test('Only the newest code counts', async (t) => {
  const { send, outcome, stores } = await given();
  const first = await send();
  stores.clock.advance(60_000);
  const second = await send();
  t.not(first, second);
  t.is(await outcome(first ?? ''), 'credentials_refused');
  t.is(await outcome(second ?? ''), 'passed');
});

test('A code is worth nothing with another address', async (t) => {
  const { send, outcome, register, next } = await given();
  await register({ email: 'bob@example.com', password, ...client }, next());
  const code = (await send()) ?? '';
  t.is(await outcome(code, 'bob@example.com'), 'credentials_refused');
  t.is(await outcome(code, 'nobody@example.com'), 'credentials_refused');
  t.is(await outcome(code), 'passed');
});

test('An address gets one code a minute and six an hour, and is answered alike when it gets none', async (t) => {
  const { send, stores, sendEmailCode, next, background } = await given();
  t.truthy(await send());
  stores.clock.advance(59_999);
  t.is(await send(), null);
  const reply = await sendEmailCode({ email }, next());
  t.deepEqual(reply, { expires_in: 600, resend_after: 60 });
  await background.settled();
  for (let code = 1; code < 6; code += 1) {
    stores.clock.advance(60_000);
    t.truthy(await send(), `code ${code + 1}`);
  }
  stores.clock.advance(60_000);
  t.is(await send(), null);
  stores.clock.advance(3_600_000);
  t.truthy(await send());
});

test('For an unknown address nothing is appended', async (t) => {
  const { sendEmailCode, next, background, stores } = await given();
  const head = await stores.eventStore.head();
  t.deepEqual(await sendEmailCode({ email: 'nobody@example.com' }, next()), {
    expires_in: 600,
    resend_after: 60,
  });
  await background.settled();
  t.is(await stores.eventStore.head(), head);
});

test('Given a code, when its user is erased or the address is another’s, then it is refused', async (t) => {
  const { send, outcome, stores, userId, next, register } = await given();
  const code = await send();
  await stores.handler.handle({ aggregate: userAggregate, id: userId }, { type: 'Erase' }, next());
  const { user } = await register({ email, password, ...client }, next());
  t.is(await outcome(code ?? ''), 'credentials_refused');
  stores.clock.advance(60_000);
  t.is(await outcome((await send()) ?? ''), 'passed');
  t.not(user.id, userId);
});

for (const [proof, isFirst] of [
  ['the first proof of the address', true],
  ['an address that is proved already', false],
] as const) {
  test(`Given ${proof}, a revocation at any moment after the code was used ends the session that it starts`, async (t) => {
    // Before the user's and the session's stream are written, and where nothing is revoked at all
    for (const moment of ['user', 'session', null]) {
      const { send, signIn, stores, userId, next, refresh } = await given();
      if (!isFirst) {
        await signIn((await send()) ?? '');
        stores.clock.advance(60_000);
      }
      const code = (await send()) ?? '';
      const { handler } = stores;
      const process = givenCommands({
        ...stores,
        handler: {
          ...handler,
          handle: async (target, command, context, options) => {
            if (target.aggregate.category === moment) {
              const user = { aggregate: userAggregate, id: userId };
              await handler.handle(user, { type: 'RevokeSessions' }, next(), { revokesAccess: true });
            }
            return handler.handle(target, command, context, options);
          },
        },
      });
      const { tokens } = await process.loginByEmailCode({ email, code, ...client }, next());
      const refreshed = await outcomeOf(refresh({ refreshToken: tokens.refresh_token }, next()));
      t.is(refreshed, moment === null ? 'passed' : 'session_over', String(moment));
    }
  });
}

/** Two processes of one clock, whose store calls take a time and are counted. */
async function givenSlowStore(latencyMs: number) {
  const clock = makeVirtualClock();
  const calls: string[] = [];
  const slow = async (call: string): Promise<void> => {
    calls.push(call);
    if (latencyMs > 0) await clock.sleep(latencyMs);
  };
  let ready = false;
  const wrap = (store: EventStore): EventStore => ({
    ...store,
    read: async (stream, options) => {
      if (ready) await slow('read');
      return store.read(stream, options);
    },
    append: async (stream, expected, events) => {
      if (ready) await slow('append');
      return store.append(stream, expected, events);
    },
  });
  const stores = await givenStores({ clock, wrap });
  const commands = givenCommands(stores);
  await commands.register({ email, password, ...client }, givenContext(1, clock.now()));
  ready = true;
  let commandsSoFar = 1;
  const next = () => givenContext((commandsSoFar += 1), clock.now());
  /** How long an answer took, what it was, and which store calls had begun by then. */
  const observe = async (work: () => Promise<unknown>) => {
    calls.length = 0;
    const began = clock.now().getTime();
    const answer = work().then(JSON.stringify, (error: unknown) => String(error));
    const observed = answer.then((text) => ({ text, ms: clock.now().getTime() - began, calls: [...calls] }));
    return clock.run(observed);
  };
  const settle = () => clock.run(commands.background.settled());
  return { ...commands, clock, stores, next, observe, settle };
}

for (const latencyMs of [0, 1, 40, 149, 10_000]) {
  test(`Given a store that takes ${latencyMs} ms a call, then asking for a code tells nothing by its time`, async (t) => {
    const { sendEmailCode, next, observe, settle, stores, clock } = await givenSlowStore(latencyMs);
    const issued = async () =>
      (await clock.run(stores.eventStore.readAll({ after: null, limit: 100 }))).events.filter(
        ({ type }) => type === 'LoginCodeIssued',
      ).length;
    const send = (address: string) => observe(() => sendEmailCode({ email: address }, next()));
    const unknown = await send('nobody@example.com');
    await settle();
    t.is(await issued(), 0);
    const known = await send(email);
    t.is(known.ms, 300);
    t.deepEqual(known, unknown, 'the same reply, after the same store calls');
    t.false(known.calls.includes('append'));
    await settle();
    t.is(await issued(), 1);
    t.deepEqual(await send(email), unknown, 'also when it is too early for another');
    await settle();
  });
}

test('A refused code tells nothing by its time either', async (t) => {
  const { loginByEmailCode, sendEmailCode, next, observe, settle, clock } = await givenSlowStore(20);
  await observe(() => sendEmailCode({ email }, next()));
  await settle();
  const signIn = (address: string, code = '000000') =>
    observe(() => loginByEmailCode({ email: address, code, ...client }, next()));
  const wrong = await signIn(email);
  const unknown = await signIn('nobody@example.com');
  await clock.advance(600_000);
  const expired = await signIn(email);
  t.deepEqual([wrong.ms, unknown.ms, expired.ms], [300, 300, 300]);
  t.is(wrong.text, unknown.text);
  t.is(expired.text, unknown.text);
  t.true(wrong.calls.includes('append'), 'though a wrong one was counted');
});

test('A store that is away is told of, for any address', async (t) => {
  const { stores, next, clock } = await givenSlowStore(0);
  const away = { ...stores.handler, load: () => Promise.reject(new StoreUnavailable('away')) };
  const { sendEmailCode, background, failures } = givenCommands({ ...stores, handler: away });
  for (const address of [email, 'nobody@example.com']) {
    const sent = sendEmailCode({ email: address }, next());
    await t.throwsAsync(clock.run(sent), { instanceOf: StoreUnavailable });
  }
  await clock.run(background.settled());
  t.is(failures.length, 2);
});

test('Only so much goes on in the background', async (t) => {
  const { stores, next, loginCodes } = await given();
  const failures: string[] = [];
  const background = makeBackground({ max: 3, onFailure: (what) => failures.push(what) });
  const releases: (() => void)[] = [];
  const clock: Clock = {
    ...stores.clock,
    sleep: (ms) => (ms > 300 ? new Promise((resolve) => releases.push(resolve)) : Promise.resolve()),
  };
  const sendEmailCode = makeSendEmailCode({
    ...stores,
    ...{ clock, background, loginCodes, findAccount: makeFindAccount(stores) },
  });
  for (let request = 0; request < 3; request += 1) await sendEmailCode({ email }, next());
  await t.throwsAsync(sendEmailCode({ email }, next()), { instanceOf: Overloaded });
  await t.throwsAsync(sendEmailCode({ email: 'nobody@example.com' }, next()), { instanceOf: Overloaded });
  releases.forEach((release) => {
    release();
  });
  await background.settled();
  await t.notThrowsAsync(sendEmailCode({ email }, next()));
  t.deepEqual(failures, []);
});

test('Given an account that somebody else has registered, when the owner of the address proves it, then nothing of before opens it', async (t) => {
  const { send, signIn, login, changePassword, next, sessions, refreshTokens, userId, ...commands } =
    await given();
  const stranger = await login({ email, password, ...client }, next());
  const strangerSession = refreshTokens.verify(stranger.tokens.refresh_token)?.sessionId ?? '';
  const { secret } = await commands.enrolTotp({ userId }, next());
  const factor = { userId, sessionId: strangerSession, clientIp: client.clientIp };
  await commands.confirmTotp({ ...factor, code: totpCode(secret, next().time) }, next());
  t.true((await commands.users.access(userId))?.twoFactorEnabled);
  const { user, tokens } = await signIn((await send()) ?? '');
  t.like(user, { email_verified: true, two_factor_enabled: false });
  t.false((await commands.users.access(userId))?.twoFactorEnabled);
  const epoch = (await sessions.access(strangerSession))?.epoch ?? -1;
  const session = { id: refreshTokens.verify(tokens.refresh_token)?.sessionId ?? '', epoch: 1 };
  t.true(epoch < session.epoch, 'the session of before is of an older epoch');
  t.is(await outcomeOf(login({ email, password, ...client }, next())), 'credentials_refused');
  const asked = {
    ...{ userId, clientIp: client.clientIp, newPassword: 'Another-Horse-8' },
    session: { ...session, methods: ['email'], authenticatedAt: next().time },
  };
  const withOld = changePassword({ ...asked, currentPassword: password }, next());
  t.is(await outcomeOf(withOld), 'credentials_refused', 'there is no password to know');
  await changePassword({ ...asked, currentPassword: undefined }, next());
  t.is(await outcomeOf(login({ email, password: 'Another-Horse-8', ...client }, next())), 'passed');
});
