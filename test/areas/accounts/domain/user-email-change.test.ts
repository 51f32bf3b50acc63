import test from 'ava';
import type { UserEvent } from '../../../../src/areas/accounts/domain/user/events.js';
import { nextEmailChangeAt } from '../../../../src/areas/accounts/domain/user/email-change.js';
import {
  hasAddress,
  holdsAddress,
  type UserCommand,
  userAggregate,
} from '../../../../src/areas/accounts/domain/user/user.js';
import { change_id, digest, otherChangeId, otherDigest } from '../../../support/examples/ids.js';
import { sealedExample } from '../../../support/examples/sealed.js';
import {
  emailChanged,
  emailChangeRequested,
  newEmail,
  userRegistered,
} from '../../../support/examples/user.js';
import { given } from '../../../support/given/given.js';
import { eventTime } from '../../../support/given/given-events.js';

const thirdDigest = 'ef'.repeat(32);
const expiresAt = new Date(emailChangeRequested.data.expires_at);
/** Returns when the store recorded the event at this index of the stream. */
const recordedAt = (index: number) => new Date(Date.parse(eventTime(index)) + 5);
const later = (ms: number, from = recordedAt(1)) => new Date(from.getTime() + ms);

const request: UserCommand = {
  type: 'RequestEmailChange',
  change_id,
  email: newEmail,
  email_digest: otherDigest,
  code_key_id: 'c1',
  expires_at: emailChangeRequested.data.expires_at,
  now: new Date(eventTime(1)),
};
const another: UserCommand = {
  ...request,
  change_id: otherChangeId,
  email: sealedExample('ada@example.edu'),
  email_digest: thirdDigest,
  now: later(60_000),
};
const anotherRequested: UserEvent = {
  type: 'EmailChangeRequested',
  data: { ...emailChangeRequested.data, change_id: otherChangeId, email_digest: thirdDigest },
};
const attempt = (now: Date): UserCommand => ({ type: 'AttemptEmailChange', change_id, now });
const attempted: UserEvent = { type: 'EmailChangeAttempted', data: { change_id } };
const complete: UserCommand = {
  type: 'CompleteEmailChange',
  ...{ change_id, email_digest: otherDigest, code_key_id: 'c1', now: new Date('2026-01-02T03:05:05.000Z') },
};
const asked = [userRegistered, emailChangeRequested] as const;

test('A command requests a change of address once', (t) => {
  given(userAggregate, userRegistered).when(request).then(t, emailChangeRequested);
  given(userAggregate).when(request).thenRejected(t, 'user_not_found');
});

test('The present address of the user is no change', (t) => {
  given(userAggregate, userRegistered)
    .when({ ...request, email_digest: digest })
    .thenRejected(t, 'address_unchanged');
});

test('A change is requested at most once a minute and six times an hour', (t) => {
  const user = (...events: readonly UserEvent[]) => {
    const { state } = given(userAggregate, userRegistered, ...events);
    if (state.status !== 'registered') throw new Error(state.status);
    return state;
  };
  given(userAggregate, ...asked)
    .when({ ...another, now: later(59_999) })
    .thenRejected(t, 'email_change_too_soon');
  given(userAggregate, ...asked)
    .when(another)
    .then(t, {
      ...anotherRequested,
      data: { ...anotherRequested.data, email: sealedExample('ada@example.edu') },
    });
  t.is(nextEmailChangeAt(user(), new Date(0)), null);
  t.deepEqual(nextEmailChangeAt(user(emailChangeRequested), later(59_999)), later(60_000));
  t.is(nextEmailChangeAt(user(emailChangeRequested), later(60_000)), null);
  const six = user(...Array.from({ length: 7 }, () => emailChangeRequested));
  const seventh = recordedAt(2).getTime() + 3_600_000;
  t.deepEqual(nextEmailChangeAt(six, later(120_000)), new Date(seventh), 'an hour after the second of seven');
  t.is(nextEmailChangeAt(six, new Date(seventh)), null);
});

test('An attempt counts before the code is compared, and there are five', (t) => {
  const { decider } = userAggregate;
  for (let tries = 0; tries < 5; tries += 1) {
    const events = Array.from({ length: tries }, () => attempted);
    t.deepEqual(decider.decide(attempt(later(0)), given(userAggregate, ...asked, ...events).state), [
      attempted,
    ]);
  }
  const five = Array.from({ length: 5 }, () => attempted);
  given(userAggregate, ...asked, ...five)
    .when(attempt(later(0)))
    .thenRejected(t, 'code_attempts_used');
});

test('The attempts of one change do not count for the next', (t) => {
  const five = Array.from({ length: 5 }, () => attempted);
  const { state } = given(userAggregate, ...asked, ...five, anotherRequested, attempted);
  const next = { ...attempt(later(0)), change_id: otherChangeId } as const;
  t.is(userAggregate.decider.decide(next, state).length, 1);
});

test('A code is valid until its expiry, to the millisecond', (t) => {
  const { decider } = userAggregate;
  const { state } = given(userAggregate, ...asked);
  t.is(decider.decide(attempt(new Date(expiresAt.getTime() - 1)), state).length, 1);
  given(userAggregate, ...asked)
    .when(attempt(expiresAt))
    .thenRejected(t, 'email_change_not_pending');
});

test('Only the pending change is attempted and completed', (t) => {
  for (const command of [attempt(later(0)), complete]) {
    given(userAggregate, userRegistered).when(command).thenRejected(t, 'email_change_not_pending');
    given(userAggregate, ...asked, anotherRequested)
      .when(command)
      .thenRejected(t, 'email_change_not_pending');
  }
});

test('A completed change sets the address, verifies it and names the earlier one', (t) => {
  given(userAggregate, ...asked)
    .when(complete)
    .then(t, emailChanged);
  const { state } = given(userAggregate, ...asked, emailChanged);
  t.like(state, { email: newEmail, email_digest: otherDigest, email_verified: true, emailChange: null });
});

test('A change that another command has completed is complete', (t) => {
  given(userAggregate, ...asked, emailChanged)
    .when(complete)
    .thenNothing(t);
});

test('A reservation counts for the present address and for the change that was requested last', (t) => {
  const { state } = given(userAggregate, ...asked);
  t.true(holdsAddress(state, digest, null));
  t.true(holdsAddress(state, otherDigest, change_id));
  t.false(holdsAddress(state, otherDigest, otherChangeId));
  t.false(holdsAddress(state, otherDigest, null));
  t.false(hasAddress(state, otherDigest));
  const superseded = given(userAggregate, ...asked, anotherRequested).state;
  t.false(holdsAddress(superseded, otherDigest, change_id));
  const changed = given(userAggregate, ...asked, emailChanged).state;
  t.true(holdsAddress(changed, digest, null), 'the former address can be put back');
  t.true(holdsAddress(changed, otherDigest, change_id));
  t.true(hasAddress(changed, otherDigest));
  const lapsed: UserEvent = { type: 'FormerAddressLapsed', data: { change_id } };
  t.false(holdsAddress(given(userAggregate, ...asked, emailChanged, lapsed).state, digest, null));
  const erased: UserEvent = { type: 'UserErased', data: {} };
  t.false(holdsAddress(given(userAggregate, ...asked, erased).state, digest, null));
});

test('A superseded change cannot be requested again, so a judgement on its reservation stays true', (t) => {
  given(userAggregate, ...asked, anotherRequested)
    .when({ ...request, now: later(3_600_000) })
    .thenRejected(t, 'email_change_not_pending');
});

test("An address is verified once, and only while it is the user's address", (t) => {
  const verify = { type: 'VerifyEmail', email_digest: digest } as const;
  const verified: UserEvent = { type: 'EmailVerified', data: { email_digest: digest } };
  given(userAggregate, userRegistered).when(verify).then(t, verified);
  given(userAggregate, ...asked, emailChanged)
    .when(verify)
    .thenRejected(t, 'address_changed');
});

test('A nickname changes, and a missing one is no change', (t) => {
  const nickname = sealedExample('Countess');
  const changed: UserEvent = { type: 'ProfileChanged', data: { nickname } };
  given(userAggregate, userRegistered).when({ type: 'ChangeProfile', nickname }).then(t, changed);
  given(userAggregate, userRegistered).when({ type: 'ChangeProfile', nickname: undefined }).thenNothing(t);
  given(userAggregate).when({ type: 'ChangeProfile', nickname: undefined }).thenRejected(t, 'user_not_found');
});

test('A user is erased once, and later commands do not find the user', (t) => {
  const erased: UserEvent = { type: 'UserErased', data: {} };
  given(userAggregate, userRegistered).when({ type: 'Erase' }).then(t, erased);
  given(userAggregate).when({ type: 'Erase' }).thenRejected(t, 'user_not_found');
  t.deepEqual(given(userAggregate, ...asked, emailChanged, erased).state, {
    ...{ status: 'erased', email_digest: otherDigest, formerDigests: [digest] },
  });
  for (const command of [request, complete, attempt(later(0))]) {
    given(userAggregate, ...asked, erased)
      .when(command)
      .thenRejected(t, 'user_not_found');
  }
});
