import test from 'ava';
import type { UserEvent } from '../../../../src/areas/accounts/domain/user/events.js';
import { credentialsToVoid } from '../../../../src/areas/accounts/domain/user/revert.js';
import {
  type RegisteredUser,
  type UserCommand,
  userAggregate,
} from '../../../../src/areas/accounts/domain/user/user.js';
import { change_id, digest, otherChangeId, otherDigest } from '../../../support/examples/ids.js';
import { sealedExample } from '../../../support/examples/sealed.js';
import {
  emailChanged,
  emailChangeRequested,
  emailVerified,
  newEmail,
  totpConfirmed,
  totpEnrolled,
  userRegistered,
} from '../../../support/examples/user.js';
import { given } from '../../../support/given/given.js';

const until = new Date(emailChanged.data.revert?.until ?? 'none');
const changed = [userRegistered, emailVerified, emailChangeRequested, emailChanged] as const;
const revert: UserCommand = {
  type: 'RevertEmailChange',
  ...{ change_id, byCode: true, now: new Date(until.getTime() - 1) },
};
const reverted = {
  type: 'EmailChangeReverted',
  data: {
    ...{ change_id, email: userRegistered.data.email, email_digest: digest, email_verified: true },
    ...{ previous_email_digest: otherDigest, voided: ['password'], kept_passkeys: [] },
  },
} as const satisfies UserEvent;
const thirdDigest = 'ef'.repeat(32);
const changedAgain = {
  type: 'EmailChanged',
  data: {
    ...{ change_id: otherChangeId, email: sealedExample('third'), email_digest: thirdDigest },
    ...{ previous_email_digest: otherDigest, revert: emailChanged.data.revert },
  },
} as const satisfies UserEvent;

function registered(...events: readonly UserEvent[]): RegisteredUser {
  const { state } = given(userAggregate, ...events);
  if (state.status !== 'registered') throw new Error(state.status);
  return state;
}

test('A change is undone once, until its time is over', (t) => {
  given(userAggregate, ...changed)
    .when(revert)
    .then(t, reverted);
  given(userAggregate, ...changed, reverted)
    .when(revert)
    .thenNothing(t);
  given(userAggregate, ...changed)
    .when({ ...revert, now: until })
    .thenRejected(t, 'email_change_not_revertible');
  given(userAggregate, userRegistered).when(revert).thenRejected(t, 'email_change_not_revertible');
  given(userAggregate, ...changed)
    .when({ ...revert, byCode: false, now: until })
    .then(t, reverted);
});

test('A revert brings the address back, ends all sessions and voids the password', (t) => {
  const user = registered(...changed, { ...emailChangeRequested }, reverted);
  t.like(user, { email_digest: digest, email_verified: true, password_hash: null, emailChange: null });
  t.is(user.epoch, 1);
  t.is(user.kept_session_id, null);
  t.deepEqual(user.formerAddresses, []);
});

test('A revert of the first change undoes later ones too', (t) => {
  const user = registered(...changed, changedAgain);
  t.deepEqual(
    user.formerAddresses.map(({ email_digest }) => email_digest),
    [digest, otherDigest],
  );
  const undone = { ...reverted, data: { ...reverted.data, previous_email_digest: thirdDigest } };
  given(userAggregate, ...changed, changedAgain)
    .when(revert)
    .then(t, undone);
  t.deepEqual(registered(...changed, changedAgain, undone).formerAddresses, []);
});

test('A return to a former address gives no code to the address in between', (t) => {
  const back = {
    ...emailChangeRequested.data,
    change_id: otherChangeId,
    email_digest: digest,
    email: newEmail,
  };
  given(userAggregate, ...changed, { type: 'EmailChangeRequested', data: back })
    .when({
      type: 'CompleteEmailChange',
      ...{ change_id: otherChangeId, email_digest: digest, code_key_id: 'c1', now: until },
    })
    .then(t, {
      type: 'EmailChanged',
      data: {
        ...{ change_id: otherChangeId, email: newEmail, email_digest: digest },
        ...{ previous_email_digest: otherDigest, revert: null },
      },
    });
});

test('A former address lapses when its time is over, and only once', (t) => {
  const lapse = (now: Date): UserCommand => ({ type: 'LapseFormerAddress', email_digest: digest, now });
  const lapsed: UserEvent = { type: 'FormerAddressLapsed', data: { change_id } };
  given(userAggregate, ...changed)
    .when(lapse(new Date(until.getTime() - 1)))
    .thenNothing(t);
  given(userAggregate, ...changed)
    .when(lapse(until))
    .then(t, lapsed);
  given(userAggregate, ...changed, lapsed)
    .when(lapse(until))
    .thenNothing(t);
  given(userAggregate, ...changed, lapsed)
    .when(revert)
    .thenRejected(t, 'email_change_not_revertible');
});

test('A change keeps the former address with its proof, its code and its end', (t) => {
  const user = registered(...changed);
  const [former] = user.formerAddresses;
  if (former === undefined) throw new Error('there is no former address');
  t.true(former.verified);
  t.like(former, { change_id, email_digest: digest, code_key_id: 'c1', until });
});

test('Credentials from 72 hours before the change or later are void, and older ones stay beside a second factor', (t) => {
  const hourMs = 3_600_000;
  const user = registered(...changed, totpEnrolled, totpConfirmed, {
    type: 'RecoveryCodesIssued',
    data: { digests: [digest] },
  });
  const [former] = user.formerAddresses;
  if (former === undefined || user.totp.status !== 'on') throw new Error('the example lacks something');
  const before = (hours: number) => new Date(former.changedAt.getTime() - hours * hourMs);
  const of = (password: number, factor: number | null, codes: number, verified = true) =>
    credentialsToVoid(
      {
        ...user,
        passwordSetAt: before(password),
        recoveryCodesIssuedAt: before(codes),
        totp:
          factor === null || user.totp.status !== 'on'
            ? { status: 'off' }
            : { ...user.totp, confirmedAt: before(factor) },
        recoveryCodes: factor === null ? new Set() : user.recoveryCodes,
      },
      { ...former, verified },
    );
  t.deepEqual(of(73, 73, 73), []);
  t.deepEqual(of(71, 73, 73), ['password']);
  t.deepEqual(of(73, 73, 71), ['recovery_codes']);
  t.deepEqual(of(73, 72, 73), ['password', 'totp', 'recovery_codes'], 'set within 72 hours');
  t.deepEqual(of(73, null, 73), ['password'], 'the thief may know the password');
  t.deepEqual(of(73, 73, 73, false), ['password', 'totp', 'recovery_codes'], 'nobody proved the address');
});

test('Every change of address gets its notice, beyond the limit of notices of one kind', (t) => {
  const again = [emailChangeRequested, emailChanged, reverted] as const;
  const user = registered(
    ...changed,
    reverted,
    ...again,
    ...again,
    ...again,
    emailChangeRequested,
    emailChanged,
  );
  const kinds = user.notices.recent.map(({ kind }) => kind);
  t.is(kinds.filter((kind) => kind === 'email_changed').length, 5);
  t.is(kinds.filter((kind) => kind === 'email_change_reverted').length, 3);
});
