import test from 'ava';
import type { UserEvent } from '../../../../src/areas/accounts/domain/user/events.js';
import { type UserCommand, userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { change_id, digest, otherChangeId, otherDigest } from '../../../support/examples/ids.js';
import {
  emailChanged,
  emailChangeRequested,
  emailVerified,
  enrolment_id,
  totpConfirmed,
  totpEnrolled,
  userRegistered,
} from '../../../support/examples/user.js';
import { testDecisions } from '../../../support/given/decisions.js';
import { given } from '../../../support/given/given.js';
import { recordedAt } from '../../../support/given/given-events.js';

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
const mailed: UserEvent = { type: 'EmailVerificationMailed', data: { verification_id, outcome: 'accepted' } };
const markMailed: UserCommand = { type: 'MarkEmailVerificationMailed', verification_id, outcome: 'accepted' };
const prove: UserCommand = { type: 'ProveEmailInSession', verification_id, session };
const attempt = (now: Date): UserCommand => ({ type: 'AttemptEmailVerification', verification_id, now });
const request = (now: Date, id = otherChangeId): UserCommand => ({
  type: 'RequestEmailVerification',
  email_digest: digest,
  issue: { ...issue, verification_id: id },
  now,
});

testDecisions(userAggregate, {
  'A proof by a session that has ended is refused, also after the sign-in that ended it': [
    [[userRegistered, requested, { type: 'SessionsRevoked', data: {} }], prove, 'session_ended'],
    [[userRegistered, requested, emailVerified, voided], prove, 'session_ended'],
  ],
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
    .when(attempt(recordedAt(1)))
    .thenRejected(t, 'code_attempts_used');
  given(userAggregate, userRegistered, requested)
    .when(attempt(expiresAt))
    .thenRejected(t, 'email_verification_not_pending');
});

testDecisions(userAggregate, {
  'The mail of a code is noted once, and not after a newer code': [
    [[userRegistered, requested], markMailed, [mailed]],
    [[userRegistered, requested, mailed], markMailed, []],
    [[userRegistered, requested], { ...markMailed, verification_id: otherChangeId }, []],
  ],
  'A proved address gets no code, and a code of an earlier address proves nothing': [
    [[userRegistered, requested, emailVerified], request(recordedAt(1, 60_000)), 'address_proved'],
    [
      [userRegistered, requested, emailChangeRequested, emailChanged],
      attempt(recordedAt(3)),
      'email_verification_not_pending',
    ],
    [
      [userRegistered],
      { ...request(recordedAt(1)), email_digest: otherDigest } as UserCommand,
      'address_changed',
    ],
  ],
  'The first proof by a sign-in ends a pending change of address, which may lead to the mailbox of a stranger':
    [
      [
        [userRegistered, emailChangeRequested, emailVerified, voided],
        {
          type: 'CompleteEmailChange',
          change_id,
          email_digest: otherDigest,
          code_key_id: 'c1',
          now: recordedAt(3),
        },
        'email_change_not_pending',
      ],
    ],
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

const purge: UserCommand = { type: 'EraseUnproved' };

testDecisions(userAggregate, {
  'A reset turns off a second factor that is on and ends the sessions, or does nothing': [
    [
      [userRegistered, totpEnrolled, totpConfirmed],
      { type: 'ResetSecondFactor' },
      [
        { type: 'TotpRemoved', data: { recovery_codes: 'end' } },
        { type: 'SessionsRevoked', data: {} },
      ],
    ],
    [[userRegistered, totpEnrolled], { type: 'ResetSecondFactor' }, []],
  ],
  'Only an account that is neither proved nor banned is erased as unproved': [
    [[userRegistered], purge, [{ type: 'UserErased', data: {} }]],
    [[userRegistered, emailVerified], purge, []],
    [[userRegistered, banned], purge, []],
    [[], purge, []],
  ],
});
