import test from 'ava';
import type { UserEvent } from '../../../../src/areas/accounts/domain/user/events.js';
import { credentialsToVoid } from '../../../../src/areas/accounts/domain/user/revert.js';
import {
  type RegisteredUser,
  type UserCommand,
  userAggregate,
} from '../../../../src/areas/accounts/domain/user/user.js';
import { change_id, digest, otherDigest } from '../../../support/examples/ids.js';
import {
  emailChanged,
  emailChangeRequested,
  emailVerified,
  totpConfirmed,
  totpEnrolled,
  userRegistered,
} from '../../../support/examples/user.js';
import { testDecisions } from '../../../support/given/decisions.js';
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

function registered(...events: readonly UserEvent[]): RegisteredUser {
  const { state } = given(userAggregate, ...events);
  if (state.status !== 'registered') throw new Error(state.status);
  return state;
}

testDecisions(userAggregate, {
  'A change is undone once, until its time is over': [
    [changed, revert, [reverted]],
    [[...changed, reverted], revert, []],
    [changed, { ...revert, now: until }, 'email_change_not_revertible'],
    [[userRegistered], revert, 'email_change_not_revertible'],
    [changed, { ...revert, byCode: false, now: until }, [reverted]],
  ],
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
