import test, { type ExecutionContext } from 'ava';
import { userCodec, type UserEvent } from '../../../../src/areas/accounts/domain/user/events.js';
import {
  holdsAddress,
  userAggregate,
  type UserCommand,
  type UserState,
} from '../../../../src/areas/accounts/domain/user/user.js';
import { CommandRejected } from '../../../../src/event-sourcing/ports/errors.js';
import { digest, orderId, otherDigest, sessionId } from '../../../support/examples/ids.js';
import {
  capacityGranted,
  emailVerified,
  enrolment_id,
  operatorGranted,
  operatorRevoked,
  otherEnrolmentId,
  register,
  registrationAbandoned,
  totpConfirmed,
  totpEnrolled,
  totpSecret,
  totpStep,
  userRegistered,
} from '../../../support/examples/user.js';
import { sealedExample } from '../../../support/examples/sealed.js';
import { testDecisions } from '../../../support/given/decisions.js';
import { given } from '../../../support/given/given.js';
import { recordEvents } from '../../../support/given/given-events.js';

testDecisions(userAggregate, {
  'Registration creates the user and grants the default capacity in one append': [
    [[], register, [userRegistered, capacityGranted]],
  ],
  'An abandoned registration cannot happen later': [
    [[registrationAbandoned], register, 'registration_abandoned'],
  ],
  'A registration that has not happened can be abandoned': [
    [[], { type: 'AbandonRegistration' }, [registrationAbandoned]],
  ],
  'A registration that has happened cannot be abandoned': [
    [[userRegistered, capacityGranted], { type: 'AbandonRegistration' }, 'already_registered'],
  ],
  'A platform role is granted once': [
    [[userRegistered, emailVerified], { type: 'GrantPlatformRole', role: 'operator' }, [operatorGranted]],
    [[userRegistered, emailVerified, operatorGranted], { type: 'GrantPlatformRole', role: 'operator' }, []],
  ],
  'A platform role needs a proved address when it is granted, but not when it is revoked': [
    [[userRegistered], { type: 'GrantPlatformRole', role: 'operator' }, 'address_not_proved'],
    [[userRegistered, operatorGranted], { type: 'RevokePlatformRole', role: 'operator' }, [operatorRevoked]],
  ],
  'A platform role is revoked and granted again': [
    [[userRegistered, operatorGranted], { type: 'RevokePlatformRole', role: 'operator' }, [operatorRevoked]],
    [
      [userRegistered, emailVerified, operatorGranted, operatorRevoked],
      { type: 'GrantPlatformRole', role: 'operator' },
      [operatorGranted],
    ],
  ],
  'Revoking a platform role that is not held appends no event': [
    [[userRegistered, operatorGranted], { type: 'RevokePlatformRole', role: 'auditor' }, []],
  ],
});

test('Only registered users have platform roles', (t) => {
  for (const type of ['GrantPlatformRole', 'RevokePlatformRole'] as const) {
    given(userAggregate).when({ type, role: 'auditor' }).thenRejected(t, 'user_not_found');
    given(userAggregate, registrationAbandoned)
      .when({ type, role: 'auditor' })
      .thenRejected(t, 'user_not_found');
  }
});

test('A user holds exactly the address of the registration', (t) => {
  t.true(holdsAddress(given(userAggregate, userRegistered).state, digest, null));
  t.false(holdsAddress(given(userAggregate, userRegistered).state, otherDigest, null));
  t.false(holdsAddress(given(userAggregate).state, digest, null));
  t.false(holdsAddress(given(userAggregate, registrationAbandoned).state, digest, null));
});

test('The first proof of an address by a mailed code voids the earlier credentials', (t) => {
  const prove = { type: 'ProveEmail', email_digest: digest } as const;
  const verified = emailVerified;
  const voided = { type: 'CredentialsVoided', data: {} } as const;
  given(userAggregate, userRegistered).when(prove).then(t, verified, voided);
  const { state } = given(userAggregate, userRegistered, verified, voided);
  t.like(state, { password_hash: null, epoch: 1, kept_session_id: null, totp: { status: 'off' } });
  // A verification by an operator voids nothing, and neither does a later code.
  given(userAggregate, userRegistered).when({ type: 'VerifyEmail', email_digest: digest }).then(t, verified);
  given(userAggregate, userRegistered, verified).when(prove).thenNothing(t);
  given(userAggregate, userRegistered)
    .when({ ...prove, email_digest: otherDigest })
    .thenRejected(t, 'address_changed');
});

const source = orderId;
const granted = { type: 'CapacityGranted', data: { source, bytes: 5 } } as const;
const grant = { type: 'GrantCapacity', source, bytes: 5 } as const;
const revoke = { type: 'RevokeCapacity', source } as const;

testDecisions(userAggregate, {
  'Capacity is kept by its source, granted once and revoked once': [
    [[userRegistered, capacityGranted], grant, [granted]],
    [[userRegistered, granted], grant, []],
    [[userRegistered, granted], revoke, [{ type: 'CapacityRevoked', data: { source } }]],
    [[userRegistered, capacityGranted], revoke, []],
  ],
});

test('A hash is replaced only where the password was checked against it', (t) => {
  const rehash = {
    type: 'RehashPassword',
    password_hash: sealedExample('the same password, hashed again'),
    checkedAgainst: register.password_hash,
  } as const;
  const rehashed: UserEvent = { type: 'PasswordRehashed', data: { password_hash: rehash.password_hash } };
  const changed: UserEvent = {
    type: 'PasswordChanged',
    data: { password_hash: sealedExample('another password'), kept_session_id: null },
  };
  const voided: UserEvent = { type: 'CredentialsVoided', data: {} };
  given(userAggregate, userRegistered).when(rehash).then(t, rehashed);
  // Otherwise the earlier password would sign in again.
  for (const event of [changed, voided]) {
    given(userAggregate, userRegistered, event).when(rehash).thenNothing(t);
  }
});

const passwordChanged: UserEvent = {
  type: 'PasswordChanged',
  data: { password_hash: register.password_hash, kept_session_id: null },
};

/** Returns the minutes of the recent notices after each event. The events are `minutesApart` minutes apart. */
function noticesAfterEach(
  minutesApart: number,
  events: readonly UserEvent[],
): readonly (readonly number[])[] {
  let state: UserState = userAggregate.decider.initialState;
  return recordEvents(userAggregate, 'example', events).map((event, index) => {
    const recordedAt = new Date(index * minutesApart * 60_000);
    state = userAggregate.decider.evolve(state, { ...userCodec.decode(event), recordedAt });
    return state.status === 'registered' ? state.notices.recent.map(({ at }) => at.getTime() / 60_000) : [];
  });
}

test('A user gets three equal notices an hour, and three a day while the address is not proved', (t) => {
  // Given a password that is changed every 10 minutes for more than a day
  const changes = Array.from({ length: 150 }, () => passwordChanged);
  const told = (...before: readonly UserEvent[]): readonly number[] => [
    ...new Set(noticesAfterEach(10, [...before, ...changes]).flat()),
  ];
  t.deepEqual(told(userRegistered, emailVerified).slice(0, 6), [20, 30, 40, 80, 90, 100]);
  t.deepEqual(told(userRegistered), [10, 20, 30, 1450, 1460, 1470]);
});

test('Notices of a time when the clock was a year ahead take no place of later ones', (t) => {
  const yearMinutes = -365 * 1_440;
  const told = noticesAfterEach(yearMinutes, [
    ...[userRegistered, emailVerified],
    ...Array.from({ length: 4 }, () => passwordChanged),
  ]);
  t.deepEqual(
    told.map((recent) => recent.length),
    [0, 0, 1, 2, 3, 4],
  );
});

test('The state of a user does not keep notices of more than a day ago', (t) => {
  const twiceADay = noticesAfterEach(12 * 60, [
    userRegistered,
    ...Array.from({ length: 9 }, () => passwordChanged),
  ]);
  t.deepEqual(twiceADay.at(-1), [8 * 720, 9 * 720]);
});

const codesIssued: UserEvent = { type: 'RecoveryCodesIssued', data: { digests: [digest] } };
const on = [userRegistered, totpEnrolled, totpConfirmed, codesIssued] as const;
const stepUsed = (step: number): UserEvent => ({ type: 'TotpStepUsed', data: { step } });
const codeUsed: UserEvent = { type: 'RecoveryCodeUsed', data: { digest } };
const removed: UserEvent = { type: 'TotpRemoved', data: { recovery_codes: 'end' } };

const enrol: UserCommand = { type: 'EnrolTotp', enrolment_id, secret: totpSecret };
const session = { id: sessionId, epoch: 0 };
const confirm: UserCommand = {
  ...{ type: 'ConfirmTotp', enrolment_id, session, step: totpStep },
  recoveryCodes: [digest],
};
const totp = (step: number, enrolment = enrolment_id): UserCommand => ({
  type: 'PassSecondFactor',
  factor: { kind: 'totp', enrolment_id: enrolment, step },
});
const recovery: UserCommand = { type: 'PassSecondFactor', factor: { kind: 'recovery-code', digest } };

/** Decides a command. Only one command uses a factor, so the repeated command is rejected and does not decide `[]`. */
function decided(t: ExecutionContext, command: UserCommand, ...events: readonly UserEvent[]) {
  const result = userAggregate.decider.decide(command, given(userAggregate, ...events).state);
  const after = given(userAggregate, ...events, ...result).state;
  t.throws(() => userAggregate.decider.decide(command, after), { instanceOf: CommandRejected });
  return result;
}

const secret = sealedExample('another secret');
const again: UserCommand = { type: 'EnrolTotp', enrolment_id: otherEnrolmentId, secret };
const enrolledAgain: UserEvent = {
  type: 'TotpEnrolled',
  data: { enrolment_id: otherEnrolmentId, secret },
};

testDecisions(userAggregate, {
  'An enrolment keeps the secret, and its confirmation turns TOTP on with recovery codes': [
    [[userRegistered], enrol, [totpEnrolled]],
    [[userRegistered, totpEnrolled], confirm, [totpConfirmed, codesIssued]],
  ],
  'A confirmation in a session that has ended meanwhile is refused': [
    [[userRegistered, totpEnrolled, { type: 'SessionsRevoked', data: {} }], confirm, 'session_ended'],
  ],
  'A later enrolment replaces an unconfirmed one': [
    [[userRegistered, totpEnrolled], again, [enrolledAgain]],
    [[userRegistered, totpEnrolled, enrolledAgain], confirm, 'totp_enrolment_superseded'],
  ],
  'An enrolment that was not requested cannot be confirmed': [
    [[userRegistered], confirm, 'totp_enrolment_superseded'],
    [[], confirm, 'user_not_found'],
  ],
  'TOTP that is on is neither enrolled again nor confirmed with other recovery codes': [
    [on, { ...enrol, enrolment_id: otherEnrolmentId }, 'totp_already_on'],
    [on, { ...confirm, recoveryCodes: [otherDigest] }, 'totp_already_on'],
  ],
});

test('A step is used once, including the step of the confirmation, and no earlier step is used after it', (t) => {
  given(userAggregate, ...on)
    .when(totp(totpStep))
    .thenRejected(t, 'second_factor_refused');
  t.deepEqual(decided(t, totp(totpStep + 1), ...on), [stepUsed(totpStep + 1)]);
  const used = [...on, stepUsed(totpStep + 2)];
  for (const step of [totpStep + 1, totpStep + 2]) {
    given(userAggregate, ...used)
      .when(totp(step))
      .thenRejected(t, 'second_factor_refused');
  }
  t.deepEqual(decided(t, totp(totpStep + 3), ...used), [stepUsed(totpStep + 3)]);
});

testDecisions(userAggregate, {
  'A step of another enrolment is refused': [
    [on, totp(totpStep + 1, otherEnrolmentId), 'second_factor_refused'],
  ],
});

test('New recovery codes replace the old ones in the append that uses their factor', (t) => {
  const factor = { kind: 'totp', enrolment_id, step: totpStep + 1 } as const;
  const replaced: UserEvent = { type: 'RecoveryCodesIssued', data: { digests: [otherDigest] } };
  const recoveryCodes = [otherDigest];
  const replace: UserCommand = { type: 'ReplaceRecoveryCodes', factor, session, recoveryCodes };
  t.deepEqual(decided(t, replace, ...on), [stepUsed(totpStep + 1), replaced]);
  given(userAggregate, ...on, { type: 'SessionsRevoked', data: {} })
    .when(replace)
    .thenRejected(t, 'session_ended');
  given(userAggregate, ...on, replaced)
    .when(recovery)
    .thenRejected(t, 'second_factor_refused');
});

test('Removing TOTP uses a factor and voids every recovery code', (t) => {
  const remove: UserCommand = { type: 'RemoveTotp', factor: { kind: 'recovery-code', digest }, session };
  t.deepEqual(decided(t, remove, ...on), [codeUsed, removed]);
  given(userAggregate, ...on, { type: 'SessionsRevoked', data: {} })
    .when(remove)
    .thenRejected(t, 'session_ended');
  for (const command of [remove, recovery, totp(totpStep + 1)]) {
    given(userAggregate, ...on, removed)
      .when(command)
      .thenRejected(t, 'totp_not_on');
  }
  given(userAggregate, ...on, removed)
    .when({ ...enrol, enrolment_id: otherEnrolmentId })
    .then(t, { type: 'TotpEnrolled', data: { enrolment_id: otherEnrolmentId, secret: totpSecret } });
});

testDecisions(userAggregate, {
  'Codes of an unconfirmed enrolment are refused': [
    [[userRegistered, totpEnrolled], totp(totpStep), 'totp_not_on'],
  ],
});
