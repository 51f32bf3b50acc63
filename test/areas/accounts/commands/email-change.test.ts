import test from 'ava';
import { changeCodeOf } from '../../../support/given/mailed-codes.js';
import { TooManyAttempts } from '../../../../src/areas/shared/rejections.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import { sealedSchema } from '../../../../src/event-sourcing/ports/events.js';
import { emailAggregate } from '../../../../src/areas/accounts/domain/email/email.js';
import { revertibleMs } from '../../../../src/areas/accounts/domain/user/former-addresses.js';
import {
  finishEmailChanges,
  releaseLeftAddresses,
} from '../../../../src/areas/accounts/commands/email/email-change.js';
import { otherUserId } from '../../../support/examples/ids.js';
import { otherThan } from '../../../support/fakes/authenticator-app.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenNext } from '../../../support/given/given-account.js';
import { mortalAppends } from '../../../support/given/interrupted-stores.js';
import { logOf, serve, typesOf } from '../../../support/given/log.js';
import { outcomeOf } from '../../../support/given/outcome-of.js';

const profile = { password: 'Correct-Horse-7', client: null, userAgent: null };
/** A session that no event has ended. */
const session = { id: otherUserId, epoch: Infinity };
const newAddress = 'Countess@Example.net';

/** Returns commands, users with addresses, and a function that reads the code of every mail. */
async function given(wrap?: (store: EventStore) => EventStore) {
  const { next: context, stores, ...commands } = await givenNext(wrap === undefined ? {} : { wrap });
  const signUp = async (email: string) => (await commands.register({ email, ...profile }, context())).user.id;
  const events = () => logOf(stores);
  const typesAfter = async (count: number) => typesOf(await events()).slice(count);
  /** Returns the code of the change that was requested last. */
  const mailedCode = (userId: string) => changeCodeOf({ commands, stores }, userId);
  const reactions = [
    finishEmailChanges(commands),
    releaseLeftAddresses({ ...commands, clock: stores.clock }),
  ] as const;
  /** Runs the reactions over the whole log and returns the types of the events that they append. */
  const react = async () => {
    const { length } = await events();
    await serve(stores, ...reactions);
    return typesAfter(length);
  };
  return { stores, ...commands, context, signUp, events, typesAfter, mailedCode, react };
}

/** Registers Ada, who requests another address. */
async function givenChange(wrap?: (store: EventStore) => EventStore) {
  const world = await given(wrap);
  const ada = await world.signUp('ada@example.com');
  await world.requestEmailChange({ userId: ada, email: newAddress }, world.context());
  const code = await world.mailedCode(ada);
  return { ...world, ada, code };
}

test('A change is requested, confirmed by the mailed code, and keeps the earlier address for 72 hours', async (t) => {
  const world = await givenChange();
  const { ada, code, stores, context, users, findAccount, react } = world;
  const before = (await world.events()).length;
  t.like((await users.find(ada))?.resource, { email: 'ada@example.com', email_verified: false });
  await world.confirmEmailChange({ userId: ada, session, code }, context());
  t.deepEqual(await world.typesAfter(before), ['EmailChangeAttempted', 'EmailReserved', 'EmailChanged']);
  t.like((await users.find(ada))?.resource, { email: newAddress, email_verified: true });
  t.is((await findAccount(stores.digests.email('countess@example.net')))?.userId, ada);
  t.is(await findAccount(stores.digests.email('ada@example.com')), null);
  t.is(await outcomeOf(world.signUp('ada@example.com')), 'email_taken');
  stores.clock.advance(revertibleMs - 1);
  t.is(await outcomeOf(world.signUp('ada@example.com')), 'email_taken');
  stores.clock.advance(1);
  t.truthy(await world.signUp('ada@example.com'), 'no registration waits for the release');
  t.deepEqual(await react(), [], 'the registration has replaced the reservation');
});

test('A reaction releases the earlier address once, after 72 hours', async (t) => {
  const { ada, code, stores, context, confirmEmailChange, react } = await givenChange();
  t.deepEqual(await react(), [], 'a reaction does nothing before a change');
  await confirmEmailChange({ userId: ada, session, code }, context());
  t.deepEqual(await react(), [], 'the change can be undone');
  stores.clock.advance(revertibleMs);
  t.deepEqual(await react(), ['FormerAddressLapsed', 'EmailReleased']);
  t.deepEqual(await react(), []);
  const { state } = await stores.handler.load(emailAggregate, stores.digests.email('ada@example.com'));
  t.is(state.status, 'free');
});

test('The addresses are sealed, and the log does not contain them in clear text', async (t) => {
  const { ada, code, stores, context, confirmEmailChange, events } = await givenChange();
  await confirmEmailChange({ userId: ada, session, code }, context());
  const log = await events();
  t.notRegex(JSON.stringify(log.map(({ data }) => data)).toLowerCase(), /example|countess/);
  const changed = log.find(({ type }) => type === 'EmailChanged');
  const sealed = sealedSchema.parse(changed?.data['email']);
  t.is(await stores.sealer.open({ kind: 'person', userId: ada }, 'email', sealed), newAddress);
});

test('Attempts are counted before codes are compared, over all processes', async (t) => {
  const { ada, code, stores, context } = await givenChange();
  const wrong = { userId: ada, session, code: otherThan(code) };
  // A text that cannot be a code is no attempt.
  const unlike = () =>
    givenCommands(stores).confirmEmailChange({ userId: ada, session, code: '12345' }, context());
  for (let n = 0; n < 6; n += 1) t.is(await outcomeOf(unlike()), 'email_change_code_refused');
  const tries = Array.from({ length: 8 }, () =>
    outcomeOf(givenCommands(stores.anotherProcess()).confirmEmailChange(wrong, context())),
  );
  const outcomes = await Promise.all(tries);
  t.is(outcomes.filter((outcome) => outcome === 'email_change_code_refused').length, 5);
  t.is(outcomes.filter((outcome) => outcome === 'TooManyAttempts').length, 3);
  stores.clock.advance(15_000);
  const right = () => givenCommands(stores).confirmEmailChange({ userId: ada, session, code }, context());
  const late = await t.throwsAsync(right, { instanceOf: TooManyAttempts }, 'the right code comes too late');
  t.is(late.retryAfterSeconds, 45, 'the wait ends when another code can be requested');
});

test('A code is valid for ten minutes, to the millisecond', async (t) => {
  for (const [ms, outcome] of [
    [599_999, 'passed'],
    [600_000, 'email_change_not_pending'],
  ] as const) {
    const { ada, code, stores, context, confirmEmailChange } = await givenChange();
    stores.clock.advance(ms);
    t.is(await outcomeOf(confirmEmailChange({ userId: ada, session, code }, context())), outcome);
  }
});

test('A session that ended during its request changes no address', async (t) => {
  const { ada, code, stores, context, logout, ...world } = await givenChange();
  const ofThief = { id: otherUserId, epoch: 0 };
  // The owner signs out everywhere after the request of the thief was authenticated.
  await logout({ userId: ada, sessionId: otherUserId, all: true }, context());
  const confirmed = world.confirmEmailChange({ userId: ada, session: ofThief, code }, context());
  t.is(await outcomeOf(confirmed), 'session_ended');
  t.is((await world.findAccount(stores.digests.email('ada@example.com')))?.userId, ada);
});

test('Accounts one after the other do not mail a stranger without end', async (t) => {
  const { context, signUp, requestEmailChange } = await given();
  const outcomes: string[] = [];
  for (let n = 0; n < 12; n += 1) {
    const userId = await signUp(`thief${n}@example.com`);
    outcomes.push(await outcomeOf(requestEmailChange({ userId, email: newAddress }, context())));
  }
  t.deepEqual(outcomes.slice(9), ['passed', 'TooManyAttempts', 'TooManyAttempts']);
});

test('One of two users who request an address and one who registers it gets it', async (t) => {
  const world = await given();
  const { stores, context, signUp, requestEmailChange, mailedCode, findAccount } = world;
  const [ada, bob] = [await signUp('ada@example.com'), await signUp('bob@example.com')];
  for (const userId of [ada, bob]) await requestEmailChange({ userId, email: newAddress }, context());
  const process = () => givenCommands(stores.anotherProcess());
  const outcomes = await Promise.all([
    outcomeOf(process().confirmEmailChange({ userId: ada, session, code: await mailedCode(ada) }, context())),
    outcomeOf(process().confirmEmailChange({ userId: bob, session, code: await mailedCode(bob) }, context())),
    outcomeOf(process().register({ email: newAddress, ...profile }, context())),
  ]);
  t.deepEqual(outcomes.sort(), ['email_taken', 'email_taken', 'passed']);
  t.truthy(await findAccount(stores.digests.email('countess@example.net')));
  for (const userId of [ada, bob]) t.truthy((await world.users.find(userId))?.resource.email);
});

/** Returns a world whose process loses its store before the append of this index, counted from the confirmation. */
async function givenCrashBefore(append: number) {
  const { life, wrap } = mortalAppends();
  const world = await givenChange(wrap);
  life.left = append;
  const { ada, code, context, confirmEmailChange } = world;
  const outcome = await outcomeOf(confirmEmailChange({ userId: ada, session, code }, context()));
  life.left = Infinity;
  return { ...world, outcome };
}

test('A change that crashed before its reservation is confirmed again, and a reaction completes it after the reservation', async (t) => {
  for (const appends of [0, 1, 2]) {
    const { ada, code, context, users, react, outcome, ...world } = await givenCrashBefore(appends);
    t.is(outcome, 'OutcomeUnknown');
    t.deepEqual(await react(), appends < 2 ? [] : ['EmailChanged']);
    if (appends < 2) await world.confirmEmailChange({ userId: ada, session, code }, context());
    t.like((await users.find(ada))?.resource, { email: newAddress });
    world.stores.clock.advance(revertibleMs);
    t.deepEqual(await react(), ['FormerAddressLapsed', 'EmailReleased']);
    t.deepEqual(await react(), []);
  }
});

test('A reservation that a crash left is released when another change was requested since', async (t) => {
  const { ada, stores, context, users, react, requestEmailChange, mailedCode, ...world } =
    await givenCrashBefore(2);
  stores.clock.advance(60_000);
  await requestEmailChange({ userId: ada, email: 'ada@example.org' }, context());
  t.deepEqual(await react(), ['EmailReleased']);
  t.truthy(await world.signUp(newAddress), 'the address is free');
  await world.confirmEmailChange({ userId: ada, session, code: await mailedCode(ada) }, context());
  t.like((await users.find(ada))?.resource, { email: 'ada@example.org' });
});

test('An address that is still reserved for an earlier change can be requested and confirmed again', async (t) => {
  const { ada, stores, context, users, react, requestEmailChange, mailedCode, ...world } =
    await givenCrashBefore(2);
  for (const email of ['ada@example.org', newAddress]) {
    stores.clock.advance(60_000);
    await requestEmailChange({ userId: ada, email }, context());
  }
  const digest = stores.digests.email('countess@example.net');
  const reserved = await stores.handler.load(emailAggregate, digest);
  await world.confirmEmailChange({ userId: ada, session, code: await mailedCode(ada) }, context());
  t.like((await users.find(ada))?.resource, { email: newAddress });
  const after = await stores.handler.load(emailAggregate, digest);
  t.true((after.revision ?? 0n) > (reserved.revision ?? 0n), 'the later change makes its own reservation');
  stores.clock.advance(revertibleMs);
  t.deepEqual(
    await react(),
    ['FormerAddressLapsed', 'EmailReleased'],
    'only the earlier address is released',
  );
  t.is((await world.findAccount(digest))?.userId, ada);
});

test('An address that changes away and back belongs to its user at the end', async (t) => {
  const { ada, stores, code, context, react, requestEmailChange, mailedCode, ...world } = await givenChange();
  await world.confirmEmailChange({ userId: ada, session, code }, context());
  stores.clock.advance(60_000);
  await requestEmailChange({ userId: ada, email: 'ada@example.com' }, context());
  await world.confirmEmailChange({ userId: ada, session, code: await mailedCode(ada) }, context());
  t.deepEqual(await react(), ['EmailReleased'], 'the address in between is released at once');
  // The release of the first change comes late, and finds nothing to release.
  stores.clock.advance(revertibleMs);
  t.deepEqual(await react(), []);
  t.is((await world.findAccount(stores.digests.email('ada@example.com')))?.userId, ada);
  t.is(await outcomeOf(world.signUp('ada@example.com')), 'email_taken');
  t.truthy(await world.signUp(newAddress));
});

test('A registration in progress keeps its reservation', async (t) => {
  const { stores, context, reservations } = await given();
  const digest = stores.digests.email('eve@example.com');
  const userId = '019b7d00-0000-7000-8000-000000000003';
  await reservations.reserve(digest, { userId, change_id: null }, context());
  t.false(await reservations.isLeft(digest, userId));
  await reservations.release(digest, userId, context());
  t.is((await stores.handler.load(emailAggregate, digest)).state.status, 'reserved');
});

test('An operator verifies an address once', async (t) => {
  const { context, signUp, verifyEmail, users, events } = await given();
  const ada = await signUp('ada@example.com');
  t.is(await verifyEmail({ email: 'ADA@example.com' }, context()), ada);
  t.true((await users.find(ada))?.resource.email_verified);
  const before = await events();
  await verifyEmail({ email: 'ada@example.com' }, context());
  t.deepEqual(await events(), before);
  t.is(await outcomeOf(verifyEmail({ email: 'bob@example.com' }, context())), 'user_not_found');
  t.is(await outcomeOf(verifyEmail({ email: 'bob' }, context())), 'invalid_request');
});
