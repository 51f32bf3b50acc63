import test, { type ExecutionContext } from 'ava';
import { CommandRejected } from '../../src/event-sourcing/errors.js';
import type { UserEvent } from '../../src/domain/user/events.js';
import { type UserCommand, userAggregate } from '../../src/domain/user/user.js';
import { digest, otherDigest } from '../support/examples/ids.js';
import { sealedExample } from '../support/examples/sealed.js';
import {
  enrolmentId,
  otherEnrolmentId,
  totpConfirmed,
  totpEnrolled,
  totpSecret,
  totpStep,
  userRegistered,
} from '../support/examples/user.js';
import { given } from '../support/given.js';

const codesIssued: UserEvent = { type: 'RecoveryCodesIssued', data: { digests: [digest] } };
const on = [userRegistered, totpEnrolled, totpConfirmed, codesIssued] as const;
const stepUsed = (step: number): UserEvent => ({ type: 'TotpStepUsed', data: { step } });
const codeUsed: UserEvent = { type: 'RecoveryCodeUsed', data: { digest } };
const removed: UserEvent = { type: 'TotpRemoved', data: {} };

const enrol: UserCommand = { type: 'EnrolTotp', enrolmentId, secret: totpSecret };
const confirm: UserCommand = { type: 'ConfirmTotp', enrolmentId, step: totpStep, recoveryCodes: [digest] };
const totp = (step: number, enrolment = enrolmentId): UserCommand => ({
  type: 'PassSecondFactor',
  factor: { kind: 'totp', enrolmentId: enrolment, step },
});
const recovery: UserCommand = { type: 'PassSecondFactor', factor: { kind: 'recovery-code', digest } };

/** A factor is used by one command only, so its repetition is refused and not decided `[]`. */
function decided(t: ExecutionContext, command: UserCommand, ...events: readonly UserEvent[]) {
  const result = userAggregate.decider.decide(command, given(userAggregate, ...events).state);
  const after = given(userAggregate, ...events, ...result).state;
  t.throws(() => userAggregate.decider.decide(command, after), { instanceOf: CommandRejected });
  return result;
}

test('An enrolment keeps the secret, and its confirmation turns TOTP on with recovery codes', (t) => {
  given(userAggregate, userRegistered).when(enrol).then(t, totpEnrolled);
  given(userAggregate, userRegistered, totpEnrolled).when(confirm).then(t, totpConfirmed, codesIssued);
});

test('A later enrolment replaces one that was not confirmed', (t) => {
  const secret = sealedExample('another secret');
  const again: UserCommand = { type: 'EnrolTotp', enrolmentId: otherEnrolmentId, secret };
  const enrolledAgain: UserEvent = {
    type: 'TotpEnrolled',
    data: { enrolment_id: otherEnrolmentId, secret },
  };
  given(userAggregate, userRegistered, totpEnrolled).when(again).then(t, enrolledAgain);
  given(userAggregate, userRegistered, totpEnrolled, enrolledAgain)
    .when(confirm)
    .thenRejected(t, 'totp_enrolment_superseded');
});

test('Nothing is confirmed that was not enrolled', (t) => {
  given(userAggregate, userRegistered).when(confirm).thenRejected(t, 'totp_enrolment_superseded');
  given(userAggregate).when(confirm).thenRejected(t, 'user_not_found');
});

test('TOTP that is on is neither enrolled nor confirmed with other recovery codes', (t) => {
  given(userAggregate, ...on)
    .when({ ...enrol, enrolmentId: otherEnrolmentId })
    .thenRejected(t, 'totp_already_on');
  given(userAggregate, ...on)
    .when({ ...confirm, recoveryCodes: [otherDigest] })
    .thenRejected(t, 'totp_already_on');
});

test('A step is used once, the one that confirmed included, and after it no earlier one', (t) => {
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

test('A step of another enrolment is refused', (t) => {
  given(userAggregate, ...on)
    .when(totp(totpStep + 1, otherEnrolmentId))
    .thenRejected(t, 'second_factor_refused');
});

test('A recovery code is used once, and others not at all', (t) => {
  t.deepEqual(decided(t, recovery, ...on), [codeUsed]);
  given(userAggregate, ...on, codeUsed)
    .when(recovery)
    .thenRejected(t, 'second_factor_refused');
  given(userAggregate, ...on)
    .when({ type: 'PassSecondFactor', factor: { kind: 'recovery-code', digest: otherDigest } })
    .thenRejected(t, 'second_factor_refused');
});

test('New recovery codes replace the old ones, and the factor they cost is used by the same append', (t) => {
  const factor = { kind: 'totp', enrolmentId, step: totpStep + 1 } as const;
  const replaced: UserEvent = { type: 'RecoveryCodesIssued', data: { digests: [otherDigest] } };
  const replace: UserCommand = { type: 'ReplaceRecoveryCodes', factor, recoveryCodes: [otherDigest] };
  t.deepEqual(decided(t, replace, ...on), [stepUsed(totpStep + 1), replaced]);
  given(userAggregate, ...on, replaced)
    .when(recovery)
    .thenRejected(t, 'second_factor_refused');
});

test('Removing takes a factor, and with it goes every recovery code', (t) => {
  const remove: UserCommand = { type: 'RemoveTotp', factor: { kind: 'recovery-code', digest } };
  t.deepEqual(decided(t, remove, ...on), [codeUsed, removed]);
  for (const command of [remove, recovery, totp(totpStep + 1)]) {
    given(userAggregate, ...on, removed)
      .when(command)
      .thenRejected(t, 'totp_not_on');
  }
  given(userAggregate, ...on, removed)
    .when({ ...enrol, enrolmentId: otherEnrolmentId })
    .then(t, { type: 'TotpEnrolled', data: { enrolment_id: otherEnrolmentId, secret: totpSecret } });
});

test('Codes of an enrolment that is not confirmed pass nothing', (t) => {
  given(userAggregate, userRegistered, totpEnrolled).when(totp(totpStep)).thenRejected(t, 'totp_not_on');
});
