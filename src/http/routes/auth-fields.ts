import { z } from 'zod';

/** The rules beyond shape are the use cases'; lengths here only bound what they are given. */
export const emailField = z
  .string()
  .max(320)
  .meta({ format: 'email', examples: ['ada@example.com'] });

/** A password that was chosen earlier. */
export const knownPassword = z.string().max(512);

export const newPassword = knownPassword.meta({
  minLength: 10,
  maxLength: 128,
  description: 'At least 10 characters with upper-case and lower-case letters, digits and symbols.',
  examples: ['Correct-Horse-7-Battery'],
});
