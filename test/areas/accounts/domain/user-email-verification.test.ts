import test from 'ava';
import type { UserEvent } from '../../../../src/areas/accounts/domain/user/events.js';
import { type UserCommand, userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { change_id, digest, otherChangeId, otherDigest } from '../../../support/examples/ids.js';
import {
  capacityGranted,
  emailChanged,
  emailChangeRequested,
  emailVerified,
  enrolment_id,
  register,
  totpConfirmed,
  totpEnrolled,
  userRegistered,
} from '../../../support/examples/user.js';
import { given } from '../../../support/given/given.js';
import { eventTime } from '../../../support/given/given-events.js';

const verification_id = change_id;
const expiresAt = new Date('2026-01-03T03:04:05.000Z');
const issue = { verification_id, code_key_id: 'c1', expires_at: expiresAt.toISOString() };
const requested: UserEvent = {
  type: 'EmailVerificationRequested',
  data: {
    verification_id,
    email_digest: digest,
    code_key_id: 'c1',
    expires_at: expiresAt.toISOString(),
  },
};
const attempted: UserEvent = {
  type: 'EmailVerificationAttempted',
  data: { verification_id },
};
const voided: UserEvent = { type: 'CredentialsVoided', data: {} };
const banned: UserEvent = { type: 'UserBanned', data: {} };
const session = { id: enrolment_id, epoch: 0 };
const prove: UserCommand = { type: 'ProveEmailInSession', verification_id, session };
const attempt = (now: Date): UserCommand => ({ type: 'AttemptEmailVerification', verification_id, now });
const request = (now: Date, id = otherChangeId): UserCommand => ({
  type: 'RequestEmailVerification',
  email_digest: digest,
  issue: { ...issue, verification_id: id },
  now,
});
/** The store's recorded time of the event at this index, and ms after it. */
const later = (index: number, ms: number) => new Date(Date.parse(eventTime(index)) + 5 + ms);

test('A registration with a code appends it in the same append', (t) => {
  given(userAggregate)
    .when({ ...register, verification: issue })
    .then(t, userRegistered, capacityGranted, requested);
});

test('A proof in a session verifies the address and voids nothing', (t) => {
  given(userAggregate, userRegistered, requested, attempted).when(prove).then(t, emailVerified);
});

test('A proof by a session that has ended is refused, also after the sign-in that ended it', (t) => {
  given(userAggregate, userRegistered, requested, { type: 'SessionsRevoked', data: {} })
    .when(prove)
    .thenRejected(t, 'session_ended');
  given(userAggregate, userRegistered, requested, emailVerified, voided)
    .when(prove)
    .thenRejected(t, 'session_ended');
});

test('Five attempts use a code up, and its time ends it', (t) => {
  const tried = (count: number) => Array.from({ length: count }, () => attempted);
  t.deepEqual(
    userAggregate.decider.decide(
      attempt(new Date(expiresAt.getTime() - 1)),
      given(userAggregate, userRegistered, requested, ...tried(4)).state,
    ),
    [attempted],
  );
  given(userAggregate, userRegistered, requested, ...tried(5))
    .when(attempt(later(1, 0)))
    .thenRejected(t, 'code_attempts_used');
  given(userAggregate, userRegistered, requested)
    .when(attempt(expiresAt))
    .thenRejected(t, 'email_verification_not_pending');
});

test('A later code ends the one before, and codes are a minute apart', (t) => {
  given(userAggregate, userRegistered, requested)
    .when(request(later(1, 59_999)))
    .thenRejected(t, 'email_verification_too_soon');
  const again: UserEvent = {
    type: 'EmailVerificationRequested',
    data: { ...requested.data, verification_id: otherChangeId },
  };
  given(userAggregate, userRegistered, requested)
    .when(request(later(1, 60_000)))
    .then(t, again);
  given(userAggregate, userRegistered, requested, again)
    .when(attempt(later(2, 0)))
    .thenRejected(t, 'email_verification_not_pending');
});

test('A proved address gets no code, and a code of an earlier address proves nothing', (t) => {
  given(userAggregate, userRegistered, requested, emailVerified)
    .when(request(later(1, 60_000)))
    .thenRejected(t, 'address_proved');
  given(userAggregate, userRegistered, requested, emailChangeRequested, emailChanged)
    .when(attempt(later(3, 0)))
    .thenRejected(t, 'email_verification_not_pending');
  given(userAggregate, userRegistered)
    .when({ ...request(later(1, 0)), email_digest: otherDigest } as UserCommand)
    .thenRejected(t, 'address_changed');
});

test('The first proof by a sign-in ends a pending change of address, which may lead to the mailbox of a stranger', (t) => {
  given(userAggregate, userRegistered, emailChangeRequested, emailVerified, voided)
    .when({
      type: 'CompleteEmailChange',
      change_id,
      email_digest: otherDigest,
      code_key_id: 'c1',
      now: later(3, 0),
    })
    .thenRejected(t, 'email_change_not_pending');
});

test('A ban ends every session and is repeated without effect, and its end leaves the sessions ended', (t) => {
  given(userAggregate, userRegistered).when({ type: 'Ban' }).then(t, banned);
  const { state } = given(userAggregate, userRegistered, banned, { type: 'UserUnbanned', data: {} });
  t.like(state, { banned: false, epoch: 1, kept_session_id: null });
  given(userAggregate, userRegistered, banned)
    .when({ type: 'Unban' })
    .then(t, { type: 'UserUnbanned', data: {} });
  given(userAggregate, userRegistered).when({ type: 'Unban' }).thenNothing(t);
});

test('A reset turns off a second factor that is on, and nothing else', (t) => {
  given(userAggregate, userRegistered, totpEnrolled, totpConfirmed)
    .when({ type: 'ResetSecondFactor' })
    .then(t, { type: 'TotpRemoved', data: { recovery_codes: 'end' } });
  given(userAggregate, userRegistered, totpEnrolled).when({ type: 'ResetSecondFactor' }).thenNothing(t);
});

test('Only an account that is neither proved nor banned is erased as unproved', (t) => {
  const purge: UserCommand = { type: 'EraseUnproved' };
  given(userAggregate, userRegistered).when(purge).then(t, { type: 'UserErased', data: {} });
  given(userAggregate, userRegistered, emailVerified).when(purge).thenNothing(t);
  given(userAggregate, userRegistered, banned).when(purge).thenNothing(t);
  given(userAggregate).when(purge).thenNothing(t);
});
