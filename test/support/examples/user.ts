import { userCodec } from '../../../src/areas/accounts/domain/user/events.js';
import { anEvent } from './event.js';
import type { UserCommand } from '../../../src/areas/accounts/domain/user/user.js';
import { change_id, digest, otherDigest } from './ids.js';
import { sealedExample } from './sealed.js';

export const capacityBytes = 1_073_741_824;

export const register = {
  type: 'Register',
  email: sealedExample('ada@example.com'),
  email_digest: digest,
  nickname: sealedExample('ada'),
  password_hash: sealedExample('a hash'),
  capacityBytes,
} as const satisfies UserCommand;

export const userRegistered = anEvent(userCodec, 'UserRegistered', {
  email: register.email,
  email_digest: digest,
  nickname: register.nickname,
  password_hash: register.password_hash,
});

export const capacityGranted = anEvent(userCodec, 'CapacityGranted', {
  source: 'registration',
  bytes: capacityBytes,
});

export const registrationAbandoned = anEvent(userCodec, 'RegistrationAbandoned', {});
export const emailVerified = anEvent(userCodec, 'EmailVerified', { email_digest: digest });
export const operatorGranted = anEvent(userCodec, 'PlatformRoleGranted', { role: 'operator' });
export const operatorRevoked = anEvent(userCodec, 'PlatformRoleRevoked', { role: 'operator' });

export const enrolment_id = '019b7d00-0000-7000-8000-000000000061';
export const otherEnrolmentId = '019b7d00-0000-7000-8000-000000000062';
export const totpSecret = sealedExample('a TOTP secret');
export const totpEnrolled = anEvent(userCodec, 'TotpEnrolled', {
  enrolment_id,
  secret: totpSecret,
});
/** The TOTP step at the time of the first given event: RFC 6238 counts 30 s from 1970. */
export const totpStep = 58_911_082;
export const totpConfirmed = anEvent(userCodec, 'TotpConfirmed', {
  enrolment_id,
  step: totpStep,
});

export const newEmail = sealedExample('ada@example.net');
export const emailChangeRequested = anEvent(userCodec, 'EmailChangeRequested', {
  change_id,
  email: newEmail,
  email_digest: otherDigest,
  code_key_id: 'c1',
  expires_at: '2026-01-02T03:14:05.000Z',
});
export const emailChanged = anEvent(userCodec, 'EmailChanged', {
  ...{ change_id, email: newEmail, email_digest: otherDigest, previous_email_digest: digest },
  revert: { code_key_id: 'c1', until: '2026-01-05T03:05:05.000Z' },
});
