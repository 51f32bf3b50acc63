import { z } from 'zod';
import { parseEmailAddress } from '../../../validation/email-address.js';

/** A valid e-mail address. The schema refuses other texts before any look-up of an account. */
export const emailField = z
  .string()
  .max(320)
  .refine((text) => parseEmailAddress(text) !== null, 'must be an e-mail address such as name@example.com')
  .meta({ format: 'email', examples: ['ada@example.com'] });

/** An existing password. The command checks the rules for a new one; this limit only bounds its work. */
export const knownPassword = z.string().max(512);

export const newPassword = knownPassword.meta({
  minLength: 10,
  maxLength: 128,
  description:
    'At least 10 characters with upper-case and lower-case letters, digits and symbols. The description of this document ' +
    'has all rules of this service.',
  examples: ['Correct-Horse-7-Battery'],
});

/** Seconds after which a caller may request another code. */
export const resendSeconds = 60;

/** `data` of a request for a code that proves an address. */
export const addressCodeSent = z
  .strictObject({
    expires_in: z.int().positive().meta({ description: 'Seconds that the code is good for.' }),
    resend_after: z.int().positive().meta({ description: 'Seconds until another one can be asked for.' }),
  })
  .meta({ id: 'AddressCodeSent' });
