import { namedObject } from '../../../validation/fields.js';
import type { AccountCommands } from '../commands/index.js';
import { z } from 'zod';
import { wrap, wrapped } from '../../../http/resources.js';
import { noFields } from '../../../http/route-spec.js';
import { type Route, empty, finished, json, ok, routesOf } from '../../../http/route.js';
import { addressCodeSent, emailField, sessionOf } from './auth-fields.js';

const addressRevert = namedObject('AddressRevert', {
  email: emailField.describe('The former address.'),
  code: z
    .string()
    .max(64)
    .meta({ description: 'From the notice.', examples: ['7QK2M-9XW4T-0B3HC-V8Z5N'] }),
});

/**
 * Makes the routes that change the address of an account (src/areas/accounts/README.md#unique-address), and those that prove it
 * (src/areas/accounts/commands/README.md#proof-of-an-address).
 */
export function makeAccountEmailRoutes(deps: AccountCommands): readonly Route[] {
  const { requestEmailChange, confirmEmailChange, revertEmailChange } = deps;
  const { requestEmailVerification, confirmEmailVerification } = deps;
  const route = routesOf({ tag: 'Accounts' });
  return [
    route('requestEmailChange', 'POST /api/v1/auth/email', {
      summary: 'Mail a code to a new address; nothing changes before it is confirmed',
      request: { body: namedObject('EmailChange', { email: emailField }) },
      replies: { 200: json('A code is on its way.', wrapped(addressCodeSent)) },
      errors: ['email_taken', 'mail_not_configured', 'too_many_attempts'],
      // A taken address counts, as in a registration, so that a caller cannot test many addresses.
      limit: { name: 'email_change', counts: [200, 409] },
      handler: async ({ caller: { userId }, body: { email }, command }) =>
        ok(wrap(await requestEmailChange({ userId, email }, command))),
    }),
    route('confirmEmailChange', 'POST /api/v1/auth/email/confirm', {
      summary: 'Change to the new address by the code that was mailed there',
      request: { body: namedObject('EmailChangeConfirmation', { code: z.string().max(64) }) },
      replies: { 204: empty('The address is changed, and verified.') },
      errors: ['invalid_credentials', 'too_many_attempts', 'email_taken'],
      handler: ({ caller, body: { code }, command }) =>
        finished(confirmEmailChange({ userId: caller.userId, session: sessionOf(caller), code }, command)),
    }),
    route('revertEmailChange', 'POST /api/v1/auth/email/revert', {
      summary: 'Undo a change of address by the code that was mailed to the former address',
      description:
        'The notice to the former address has the code, which is valid for 72 hours. The account gets this address back, and later changes are undone too. All sessions and the pending change end. A password, second factors and recovery codes that a thief may have set or may know are void.',
      request: { body: addressRevert },
      replies: { 204: empty('The address is the former one.') },
      errors: ['invalid_credentials'],
      limit: { name: 'email_revert', counts: 'all' },
      handler: ({ body, command }) => finished(revertEmailChange(body, command)),
    }),
    route('confirmEmailVerification', 'POST /api/v1/auth/email/verify', {
      summary: 'Prove the address of the account by the code that was mailed there; it voids nothing',
      description:
        'A registration mails the code. It works for 24 hours and may be tried five times. A proved address stays proved, so a repetition is 204 too.',
      request: { body: namedObject('EmailVerification', { code: z.string().max(64) }) },
      replies: { 204: empty('The address is proved.') },
      errors: ['invalid_credentials', 'too_many_attempts'],
      handler: ({ caller, body: { code }, command }) =>
        finished(
          confirmEmailVerification({ userId: caller.userId, session: sessionOf(caller), code }, command),
        ),
    }),
    route('requestEmailVerification', 'POST /api/v1/auth/email/verify/send', {
      summary: 'Mail another code that proves the address of the account',
      description:
        'The code before it ends. An account gets one code a minute and six an hour, an address ten a day.',
      request: { body: noFields },
      replies: { 200: json('A code is on its way.', wrapped(addressCodeSent)) },
      errors: ['mail_not_configured', 'conflict', 'too_many_attempts'],
      limit: { name: 'email_change', counts: [200] },
      handler: async ({ caller: { userId }, command }) =>
        ok(wrap(await requestEmailVerification({ userId }, command))),
    }),
  ];
}
