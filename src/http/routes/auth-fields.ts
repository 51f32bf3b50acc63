import { z } from 'zod';
import { parseEmailAddress } from '../../security/email-address.js';

/** An address that mail can be sent to; anything else is told before it is asked whether there is an account. */
export const emailField = z
  .string()
  .max(320)
  .refine((text) => parseEmailAddress(text) !== null, 'must be an e-mail address such as name@example.com')
  .meta({ format: 'email', examples: ['ada@example.com'] });

/** A password that was chosen earlier. The rules for a new one are the use case's; the length only bounds what it is given. */
export const knownPassword = z.string().max(512);

export const newPassword = knownPassword.meta({
  minLength: 10,
  maxLength: 128,
  description: 'At least 10 characters with upper-case and lower-case letters, digits and symbols.',
  examples: ['Correct-Horse-7-Battery'],
});
