import test from 'ava';
import { decodeJwt } from 'jose';
import { pluck } from '../../../support/given/pluck.js';
import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import { loginCodeAggregate } from '../../../../src/areas/accounts/domain/login-code/login-code.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { makeVirtualClock } from '../../../support/kernel/virtual-clock.js';
import { makeTestClock } from '../../../support/fakes/clock.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { client, credentials, givenAccount } from '../../../support/given/given-account.js';
import { givenContext, givenStores } from '../../../support/given/given-stores.js';
import { beforeCommands } from '../../../support/given/interrupted-stores.js';
import { outcomeOf } from '../../../support/given/outcome-of.js';
import { newestIssue } from '../../../support/examples/login-code.js';

const { email, password } = credentials;

type Process = Pick<ReturnType<typeof givenCommands>, 'loginByEmailCode'>;

/** Registers Ada. Sleeping takes no time, so only the test moves the clock. */
async function given() {
  const clock = { ...makeTestClock(), sleep: () => Promise.resolve() };
  const commands = await givenAccount({ clock });
  const { stores, next, digest } = commands;
  /** Requests a code. Returns the code of the mail, or null if there is no new one. */
  const send = async (address = email): Promise<string | null> => {
    const before = (await loadIssue())?.issue_id;
    await commands.sendEmailCode({ email: address, ...client }, next());
    const issue = await loadIssue();
    if (issue === null || issue.issue_id === before) return null;
    const { strong } = await loadCodes();
    const isStrong = strong.some(({ issue_id }) => issue_id === issue.issue_id);
    const codes = isStrong ? commands.strongLoginCodes : commands.loginCodes;
    return codes.codeFor({ kid: issue.code_key_id, issue_id: issue.issue_id, email_digest: digest });
  };
  const loadCodes = async () => (await stores.handler.load(loginCodeAggregate, digest)).state;
  const loadIssue = async () => newestIssue(await loadCodes());
  const signIn = (code: string, address = email, process: Process = commands) =>
    process.loginByEmailCode({ email: address, code, ...client }, next());
  const outcome = (code: string, address = email, process?: Process) =>
    outcomeOf(signIn(code, address, process));
  return { ...commands, send, signIn, outcome, loadIssue };
}

/** Returns a wrong code. */
const other = (code: string | null, by = 1) => String((Number(code) + by) % 1_000_000).padStart(6, '0');

test('A mailed code starts a session and verifies the address', async (t) => {
  const { send, signIn, stores, userId, accessTokens, refreshTokens, sessions, digest } = await given();
  const code = await send(' ADA@example.com');
  const { user, tokens } = await signIn(code ?? '');
  t.like(user, { id: userId, email, email_verified: true });
  const at = stores.clock.now();
  const verdict = await accessTokens.verify(tokens.access_token);
  t.like(verdict, { valid: true, claims: { userId } });
  t.like(decodeJwt(tokens.access_token), { amr: ['email'], auth_time: Math.floor(at.getTime() / 1_000) });
  const sessionId = refreshTokens.verify(tokens.refresh_token)?.sessionId ?? '';
  t.like(await sessions.access(sessionId), {
    userId,
    epoch: 1,
    proofs: { authenticatedAt: at, passedAt: { totp: null, passkey: null } },
  });
  const stream = await stores.eventStore.read(`logincode-${digest}`);
  t.deepEqual(pluck(stream, 'type'), ['LoginCodeIssued', 'LoginCodeUsed']);
  const text = JSON.stringify(stream.map(({ data }) => data));
  t.false(
    text.includes(code ?? '') || text.includes('example.com'),
    'the log contains neither code nor address',
  );
});

test('A code works once, also for many concurrent sign-ins in several processes', async (t) => {
  const { send, outcome, stores } = await given();
  const code = (await send()) ?? '';
  const processes = [stores, stores.anotherProcess(), stores.anotherProcess()].map((process) =>
    givenCommands(process),
  );
  const tries = Array.from({ length: 15 }, (_, index) => outcome(code, email, processes[index % 3]));
  const outcomes = await Promise.all(tries);
  t.is(outcomes.filter((one) => one === 'passed').length, 1);
  t.false(outcomes.some((one) => !['passed', 'credentials_refused', 'TooManyAttempts'].includes(one)));
  stores.clock.advance(60_000);
  t.is(await outcome(code), 'credentials_refused');
});

test('Five of fifty concurrent guesses count, and then the right code is refused', async (t) => {
  const { send, outcome, stores, loadIssue, digest } = await given();
  const code = await send();
  const processes = [stores, stores.anotherProcess(), stores.anotherProcess()].map((process) =>
    givenCommands(process),
  );
  const guesses = Array.from({ length: 50 }, (_, index) =>
    outcome(other(code, index + 1), email, processes[index % 3]),
  );
  const outcomes = await Promise.all(guesses);
  const refused = outcomes.filter((one) => one === 'credentials_refused');
  t.is(refused.length, 5, 'what one client may try at once');
  // A command that lost too many races for the stream decided nothing.
  const others = outcomes.filter((one) => one !== 'credentials_refused');
  t.true(
    others.every((one) => one === 'TooManyAttempts' || one === 'Overloaded'),
    others.join(),
  );
  t.deepEqual((await loadIssue())?.attemptsFailed, { known: 0, unknown: 5 });
  const stream = await stores.eventStore.read(`logincode-${digest}`);
  t.is(stream.filter(({ type }) => type === 'LoginCodeAttemptFailed').length, 5);
  t.is(await outcome(code ?? ''), 'TooManyAttempts');
  stores.clock.advance(1_000);
  t.is(await outcome(code ?? ''), 'credentials_refused');
});

test('A guess whose append fails is not answered as right or wrong, and a right code is not used twice', async (t) => {
  const { send, stores, next, outcome, ...commands } = await given();
  const code = (await send()) ?? '';
  const away = () => Promise.reject(new StoreUnavailable('away'));
  const process = givenCommands(beforeCommands(stores, away));
  for (const guess of [code, other(code)]) {
    const tried = process.loginByEmailCode({ email, code: guess, ...client }, next());
    t.is(await outcomeOf(tried), 'StoreUnavailable');
  }
  t.is(await outcome(code), 'passed');
  t.deepEqual(commands.failures, []);
});

test('A code expires ten minutes after its issue, to the millisecond', async (t) => {
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

test('A code is refused with another address', async (t) => {
  const { send, outcome, register, next } = await given();
  await register({ email: 'bob@example.com', password, ...client }, next());
  const code = (await send()) ?? '';
  t.is(await outcome(code, 'bob@example.com'), 'credentials_refused');
  t.is(await outcome(code, 'nobody@example.com'), 'credentials_refused');
  t.is(await outcome(code), 'passed');
});

test('A request for an unknown address appends one event a minute, without the address, and issues no code', async (t) => {
  const { sendEmailCode, next, stores, outcome } = await given();
  const unknown = 'nobody@example.com';
  for (let request = 0; request < 3; request += 1) {
    const reply = await sendEmailCode({ email: unknown, ...client }, next());
    t.deepEqual(reply, { expires_in: 600, resend_after: 60 });
  }
  const stream = await stores.eventStore.read(`logincode-${stores.digests.email(unknown)}`);
  t.deepEqual(
    stream.map(({ type, data }) => [type, data]),
    [['LoginCodeWithheld', { requester: 'unknown' }]],
  );
  t.is(await outcome('000000', unknown), 'credentials_refused');
});

test('An acknowledged code is in the log, so a process that ends with its reply loses none', async (t) => {
  let ended = false;
  const stores = await givenStores({
    wrap: (store) => ({
      ...store,
      append: (...args) =>
        ended ? Promise.reject(new StoreUnavailable('the process has ended')) : store.append(...args),
    }),
  });
  const commands = givenCommands(stores);
  await commands.register({ email, password, ...client }, givenContext(1, stores.clock.now()));
  // When the process ends at the moment of its reply
  await commands
    .sendEmailCode({ email, ...client }, givenContext(2, stores.clock.now()))
    .then(() => (ended = true));
  // Then another process finds the code
  const { state } = await stores
    .anotherProcess()
    .handler.load(loginCodeAggregate, stores.digests.email(email));
  t.truthy(newestIssue(state));
});

test('A code is refused when its user is erased or the address belongs to another user', async (t) => {
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
  ['a proved address', false],
] as const) {
  test(`A revocation after the use of a code ends the session that it starts, with ${proof}`, async (t) => {
    // The revocation comes before the write to the stream of the user or of the session, or not at all.
    for (const moment of ['user', 'session', null]) {
      const { send, signIn, stores, userId, next, refresh } = await given();
      if (!isFirst) {
        await signIn((await send()) ?? '');
        stores.clock.advance(60_000);
      }
      const code = (await send()) ?? '';
      const user = { aggregate: userAggregate, id: userId };
      const revoke = () =>
        stores.handler.handle(user, { type: 'RevokeSessions' }, next(), { revokesAccess: true });
      const process = givenCommands(
        beforeCommands(stores, (category) => (category === moment ? revoke() : undefined)),
      );
      const { tokens } = await process.loginByEmailCode({ email, code, ...client }, next());
      const refreshed = await outcomeOf(refresh({ refreshToken: tokens.refresh_token }, next()));
      t.is(refreshed, moment === null ? 'passed' : 'session_over', String(moment));
    }
  });
}

/** Returns two processes with one clock. Each store call takes `latencyMs` and is recorded. */
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
  /** Returns the duration of a reply in ms, its text, and the store calls that began before it. */
  const observe = async (work: () => Promise<unknown>) => {
    calls.length = 0;
    const began = clock.steadyMs();
    const answer = work().then(JSON.stringify, (error: unknown) => String(error));
    const observed = answer.then((text) => ({
      text,
      ms: clock.steadyMs() - began,
      calls: [...calls],
    }));
    return clock.run(observed);
  };
  return { ...commands, clock, stores, next, observe };
}

for (const latencyMs of [0, 1, 40, 149, 1_000]) {
  test(`A request for a code takes the same time for every address, with a store that takes ${latencyMs} ms a call`, async (t) => {
    const { sendEmailCode, next, observe } = await givenSlowStore(latencyMs);
    const send = (address: string) => observe(() => sendEmailCode({ email: address, ...client }, next()));
    const unknown = await send('nobody@example.com');
    const known = await send(email);
    t.deepEqual(known, unknown, 'the same reply, after the same store calls');
    // Two reads find the account while 300 ms pass. Then one read and the append follow.
    // The reply leaves at the next multiple of 100 ms.
    t.is(known.ms, Math.ceil((Math.max(300, 2 * latencyMs) + 2 * latencyMs) / 100) * 100);
    t.deepEqual(known.calls.slice(-2), ['read', 'append']);
    const [unknownAgain, knownAgain] = [await send('nobody@example.com'), await send(email)];
    t.deepEqual(knownAgain, unknownAgain, 'also when it is too early for another code');
  });
}

test('A reply about a code hides the few ms that the busy stream of an account costs', async (t) => {
  // Given the stream of an account to which the service also appends that it mailed a code
  const { stores, clock, next, observe, sendEmailCode } = await givenSlowStore(1);
  const handle: typeof stores.handler.handle = async (...args) => {
    await clock.sleep(7);
    return stores.handler.handle(...args);
  };
  const busy = givenCommands({ ...stores, handler: { ...stores.handler, handle } });
  // When codes are requested for it and for an unknown address
  const known = await observe(() => busy.sendEmailCode({ email, ...client }, next()));
  const unknown = await observe(() => sendEmailCode({ email: 'nobody@example.com', ...client }, next()));
  // Then both replies leave at the same time
  t.deepEqual([known.ms, unknown.ms], [400, 400]);
});

test('The time of a refusal is the same for a wrong code, an unknown address and an expired code', async (t) => {
  const { loginByEmailCode, sendEmailCode, next, observe, clock } = await givenSlowStore(20);
  await observe(() => sendEmailCode({ email, ...client }, next()));
  const signIn = (address: string, code = '000000') =>
    observe(() => loginByEmailCode({ email: address, code, ...client }, next()));
  const wrong = await signIn(email);
  const unknown = await signIn('nobody@example.com');
  // Also where the clock is set back an hour before the refusal
  const setBack = signIn('nobody@example.com');
  clock.set(-3_600_000);
  t.deepEqual(await setBack, unknown);
  clock.set(3_600_000);
  await clock.advance(600_000);
  const expired = await signIn(email);
  t.deepEqual([wrong.ms, unknown.ms, expired.ms], [300, 300, 300]);
  t.is(wrong.text, unknown.text);
  t.is(expired.text, unknown.text);
  t.true(wrong.calls.includes('append'), 'although a wrong code was counted');
});

test('A request fails for every address while the store is away', async (t) => {
  const { stores, next, clock } = await givenSlowStore(0);
  const away = { ...stores.handler, load: () => Promise.reject(new StoreUnavailable('away')) };
  const { sendEmailCode } = givenCommands({ ...stores, handler: away });
  for (const address of [email, 'nobody@example.com']) {
    const sent = sendEmailCode({ email: address, ...client }, next());
    await t.throwsAsync(clock.run(sent), { instanceOf: StoreUnavailable });
  }
});

for (const [what, aheadMs] of [
  ['an hour', 3_600_000],
  ['half a minute', 30_000],
] as const)
  test(`A code is mailed at once after the clock was ${what} ahead and is put right`, async (t) => {
    const { send, outcome, stores } = await given();
    stores.clock.advance(aheadMs);
    for (let n = 0; n < 3; n += 1) {
      t.truthy(await send());
      stores.clock.advance(60_000);
    }
    stores.clock.advance(-aheadMs - 180_000);
    const code = await send();
    t.is(await outcome(code ?? ''), 'passed');
    t.is(await send(), null, 'and the next one after a minute');
  });
