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
import { testDecisions } from '../../../support/given/decisions.js';
import { given } from '../../../support/given/given.js';
import { recordedAt, eventTime } from '../../../support/given/given-events.js';

const thirdDigest = 'ef'.repeat(32);
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
const session = { id: otherChangeId, epoch: 0 };
const attempt = (now: Date): UserCommand => ({ type: 'AttemptEmailChange', change_id, session, now });
const complete: UserCommand = {
  type: 'CompleteEmailChange',
  ...{ change_id, email_digest: otherDigest, code_key_id: 'c1', now: new Date('2026-01-02T03:05:05.000Z') },
};
const asked = [userRegistered, emailChangeRequested] as const;

testDecisions(userAggregate, {
  'A command requests a change of address once': [
    [[userRegistered], request, [emailChangeRequested]],
    [[], request, 'user_not_found'],
  ],
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

test('Only the pending change is attempted and completed', (t) => {
  for (const command of [attempt(later(0)), complete]) {
    given(userAggregate, userRegistered).when(command).thenRejected(t, 'email_change_not_pending');
    given(userAggregate, ...asked, anotherRequested)
      .when(command)
      .thenRejected(t, 'email_change_not_pending');
  }
});

testDecisions(userAggregate, {
  'A change that another command has completed is complete': [[[...asked, emailChanged], complete, []]],
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

const verify = { type: 'VerifyEmail', email_digest: digest } as const;
const verified: UserEvent = { type: 'EmailVerified', data: { email_digest: digest } };

testDecisions(userAggregate, {
  'A superseded change cannot be requested again, so a judgement on its reservation stays true': [
    [[...asked, anotherRequested], { ...request, now: later(3_600_000) }, 'email_change_not_pending'],
  ],
  "An address is verified once, and only while it is the user's address": [
    [[userRegistered], verify, [verified]],
    [[...asked, emailChanged], verify, 'address_changed'],
  ],
});

test('A user is erased once, and later commands do not find the user', (t) => {
  const erased: UserEvent = { type: 'UserErased', data: {} };
  given(userAggregate, userRegistered).when({ type: 'Erase' }).then(t, erased);
  given(userAggregate).when({ type: 'Erase' }).thenRejected(t, 'user_not_found');
  t.deepEqual(given(userAggregate, ...asked, emailChanged, erased).state, {
    ...{ status: 'erased', email_digest: otherDigest, formerDigests: [digest], provedDigests: [otherDigest] },
    erasedAt: recordedAt(asked.length + 1),
  });
  for (const command of [request, complete, attempt(later(0))]) {
    given(userAggregate, ...asked, erased)
      .when(command)
      .thenRejected(t, 'user_not_found');
  }
});
