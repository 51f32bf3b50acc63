import type { UserEvent } from '../../../src/areas/accounts/domain/user/events.js';
import type { UserCommand } from '../../../src/areas/accounts/domain/user/user.js';
import { changeId, digest, otherDigest } from './ids.js';
import { sealedExample } from './sealed.js';

export const capacityBytes = 1_073_741_824;

export const register = {
  type: 'Register',
  email: sealedExample('ada@example.com'),
  emailDigest: digest,
  nickname: sealedExample('ada'),
  passwordHash: sealedExample('a hash'),
  capacityBytes,
} as const satisfies UserCommand;

export const userRegistered = {
  type: 'UserRegistered',
  data: {
    email: register.email,
    email_digest: digest,
    nickname: register.nickname,
    password_hash: register.passwordHash,
  },
} as const satisfies UserEvent;

export const capacityGranted = {
  type: 'CapacityGranted',
  data: { source: 'registration', bytes: capacityBytes },
} as const satisfies UserEvent;

export const registrationAbandoned = { type: 'RegistrationAbandoned', data: {} } as const satisfies UserEvent;
export const emailVerified = {
  type: 'EmailVerified',
  data: { email_digest: digest },
} as const satisfies UserEvent;
export const operatorGranted = {
  type: 'PlatformRoleGranted',
  data: { role: 'operator' },
} as const satisfies UserEvent;
export const operatorRevoked = {
  type: 'PlatformRoleRevoked',
  data: { role: 'operator' },
} as const satisfies UserEvent;

export const enrolmentId = '019b7d00-0000-7000-8000-000000000061';
export const otherEnrolmentId = '019b7d00-0000-7000-8000-000000000062';
export const totpSecret = sealedExample('a TOTP secret');
export const totpEnrolled = {
  type: 'TotpEnrolled',
  data: { enrolment_id: enrolmentId, secret: totpSecret },
} as const satisfies UserEvent;
/** The TOTP step at the time of the first given event: RFC 6238 counts 30 s from 1970. */
export const totpStep = 58_911_082;
export const totpConfirmed = {
  type: 'TotpConfirmed',
  data: { enrolment_id: enrolmentId, step: totpStep },
} as const satisfies UserEvent;

export const newEmail = sealedExample('ada@example.net');
export const emailChangeRequested = {
  type: 'EmailChangeRequested',
  data: {
    change_id: changeId,
    email: newEmail,
    email_digest: otherDigest,
    code_key_id: 'c1',
    expires_at: '2026-01-02T03:14:05.000Z',
  },
} as const satisfies UserEvent;
export const emailChanged = {
  type: 'EmailChanged',
  data: {
    ...{ change_id: changeId, email: newEmail, email_digest: otherDigest, previous_email_digest: digest },
    revert: { code_key_id: 'c1', until: '2026-01-05T03:05:05.000Z' },
  },
} as const satisfies UserEvent;
