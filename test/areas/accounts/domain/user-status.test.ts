import test from 'ava';
import type { UserEvent } from '../../../../src/areas/accounts/domain/user/events.js';
import { applyEvent, newUser, type UserFields } from '../../../../src/areas/accounts/domain/user/fold.js';
import { digest, orderId, otherDigest, sessionId } from '../../../support/examples/ids.js';
import { sealedExample } from '../../../support/examples/sealed.js';
import {
  capacityGranted,
  emailChanged,
  emailChangeRequested,
  emailVerified,
  newEmail,
  operatorGranted,
  operatorRevoked,
  register,
  totpConfirmed,
  userRegistered,
} from '../../../support/examples/user.js';

const registered = newUser(userRegistered.data);
const given = (...events: readonly UserEvent[]): UserFields =>
  events.reduce((before, event) => ({ ...before, ...applyEvent(before, event) }), registered);
const passwordChanged: UserEvent = {
  type: 'PasswordChanged',
  data: { password_hash: sealedExample('another hash'), kept_session_id: sessionId },
};

test('A new user has an unproved address, no grants and no role', (t) => {
  t.deepEqual(registered, {
    ...{ email: register.email, email_digest: digest, email_verified: false, nickname: register.nickname },
    ...{ capacity: [], platform_roles: [], banned: false, epoch: 0, kept_session_id: null },
  });
});

test('A proof counts for the present address only', (t) => {
  t.deepEqual(given(emailVerified), { ...registered, email_verified: true });
  const ofAnother: UserEvent = { type: 'EmailVerified', data: { email_digest: otherDigest } };
  t.deepEqual(given(ofAnother), registered);
  t.true(given(emailVerified, ofAnother).email_verified);
});

test('A changed address is verified, and a requested one changes nothing', (t) => {
  t.deepEqual(given(emailChangeRequested), registered);
  t.deepEqual(given(emailChangeRequested, emailChanged), {
    ...registered,
    ...{ email: newEmail, email_digest: otherDigest, email_verified: true },
  });
});

test('The last grant of a source counts, until it is revoked', (t) => {
  const larger = { source: 'registration', bytes: 7 } as const;
  const bought = { source: orderId, bytes: 5 };
  const granted = given(
    capacityGranted,
    { type: 'CapacityGranted', data: bought },
    { type: 'CapacityGranted', data: larger },
  );
  t.deepEqual(granted.capacity, [bought, larger]);
  const revoked = applyEvent(granted, { type: 'CapacityRevoked', data: { source: orderId } });
  t.deepEqual(revoked.capacity, [larger]);
});

test('A platform role is held once, until it is revoked', (t) => {
  const auditor: UserEvent = { type: 'PlatformRoleGranted', data: { role: 'auditor' } };
  t.deepEqual(given(operatorGranted, auditor, operatorGranted).platform_roles, ['auditor', 'operator']);
  t.deepEqual(given(operatorGranted, auditor, operatorRevoked).platform_roles, ['auditor']);
});

test('Each change of the password, voiding and revocation begins an epoch, and keeps the session it names', (t) => {
  t.like(given(passwordChanged), { epoch: 1, kept_session_id: sessionId });
  for (const ended of [
    { type: 'SessionsRevoked', data: {} },
    { type: 'CredentialsVoided', data: {} },
  ] as const) {
    t.like(given(passwordChanged, ended), { epoch: 2, kept_session_id: null });
  }
  t.is(given(totpConfirmed).epoch, 0);
});

test('A profile shows its last nickname', (t) => {
  const nickname = sealedExample('lovelace');
  t.deepEqual(given({ type: 'ProfileChanged', data: { nickname } }), { ...registered, nickname });
});
