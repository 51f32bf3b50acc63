import { namedObject } from '../../../validation/fields.js';
import { z } from 'zod';
import type { RequestSession } from '../domain/guard.js';
import type { SignedIn } from '../commands/signing-in/passwords.js';
import type { KnownDevices } from '../commands/signing-in/known-devices.js';
import { wrap } from '../../../http/resources.js';
import type { SessionCaller } from '../../../http/access/access.js';
import { isSignInCode } from '../commands/signing-in/try-login-code.js';
import { addressTextMax, parseEmailAddress } from '../../../validation/email-address.js';

/** A valid e-mail address. The schema refuses other texts before any look-up of an account. */
export const emailField = z
  .string()
  .max(addressTextMax)
  .refine((text) => parseEmailAddress(text) !== null, 'must be an e-mail address such as name@example.com')
  .meta({ format: 'email', examples: ['ada@example.com'] });

/** An existing password. The command checks the rules for a new one; this limit only bounds its work. */
export const knownPassword = z.string().max(512);

/** A mailed code that signs in: six digits, or 20 characters in any spelling that people type. */
export const signInCode = z
  .string()
  .max(64)
  .refine(isSignInCode, 'must be six digits, or a code such as 7QK2M-9XW4T-0B3HC-V8Z5N')
  .meta({ examples: ['271828'] });

/** The token of a device; a text that is none is like none. */
export const givenDeviceToken = z
  .string()
  .max(512)
  .optional()
  .describe('`device_token` of an earlier sign-in.');

export const newPassword = knownPassword.meta({
  minLength: 10,
  maxLength: 128,
  description:
    'At least 10 characters with upper-case and lower-case letters, digits and symbols. The description of this document ' +
    'has all rules of this service.',
  examples: ['Correct-Horse-7-Battery'],
});

/** `data` of a request for a code that proves an address. */
export const addressCodeSent = namedObject('AddressCodeSent', {
  expires_in: z.int().positive().describe('Seconds that the code is good for.'),
  resend_after: z.int().positive().describe('Seconds until another one can be asked for.'),
});

/** Returns the body of the reply to a sign-in. */
export function signedInBody({ user, tokens, deviceToken: device_token }: SignedIn) {
  return wrap({ user, tokens, device_token });
}

/** Returns the session of a request, which a command checks once more. */
export function sessionOf({ sessionId: id, sessionEpoch: epoch }: SessionCaller): RequestSession {
  return { id, epoch };
}

/** Returns the device from which the session of a caller began, if its account knows it. */
export function deviceOfSession(knownDevices: Pick<KnownDevices, 'ofSession'>) {
  return ({ caller: { userId, sessionId, user } }: { readonly caller: SessionCaller }) =>
    knownDevices.ofSession({ userId, sessionId, epoch: user.epoch });
}

/** The field of the replies that add a factor. */
export const recoveryCodesOfFirst = z
  .array(z.string())
  .nullable()
  .describe('Ten codes, shown this one time. Null for a later factor, whose account has codes.');

/** Copies the codes for a reply. */
export function shownCodes(codes: readonly string[] | null): string[] | null {
  return codes === null ? null : [...codes];
}
