import type { AccountCommands } from '../commands/index.js';
import { z } from 'zod';
import { HttpError } from '../../../http/replies/http-error.js';
import { signedIn, wrap, wrapped } from '../../../http/resources.js';
import { noParams, noQuery } from '../../../http/route-spec.js';
import { defineRoute, type Route } from '../../../http/route.js';
import { givenDeviceToken, emailField, presentSignedIn, signInCode } from './auth-fields.js';

const codeRequest = z
  .strictObject({ email: emailField, device_token: givenDeviceToken })
  .meta({ id: 'EmailCodeRequest' });

const codeLogin = z
  .strictObject({
    email: emailField,
    code: signInCode,
    device_token: givenDeviceToken,
  })
  .meta({ id: 'EmailCodeLogin' });

/** Makes sign-in by a mailed code (src/areas/accounts/commands/README.md#email-codes, docs/api.md#45-post-apiv1authemail-codesend). */
export function makeEmailCodeRoutes({
  sendEmailCode,
  loginByEmailCode,
  knownDevices,
  mailConfigured,
}: Pick<AccountCommands, 'sendEmailCode' | 'loginByEmailCode' | 'knownDevices'> & {
  readonly mailConfigured: boolean;
}): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/auth/email-code/send',
      name: 'sendEmailCode',
      tag: 'Accounts',
      summary: 'Send a login code to an e-mail address',
      description:
        'The reply does not tell whether there is an account. An address gets one code a minute and six an hour; further requests are answered alike and send nothing.',
      request: { params: noParams, query: noQuery, body: codeRequest },
      replies: {
        200: {
          description: 'Seconds that a code lives, and after which another may be asked for.',
          schema: wrapped(z.strictObject({ expires_in: z.int(), resend_after: z.int() })),
        },
      },
      errors: ['mail_not_configured'],
      lacks: () =>
        mailConfigured ? null : new HttpError('mail_not_configured', 'the service cannot send mail'),
      limit: [
        { name: 'email_code', counts: [200] },
        { name: 'email_code_day', counts: [200] },
      ],
      cacheControl: 'no-store',
      deviceOf: ({ body: { email, device_token } }) => knownDevices.ofToken(email, device_token),
      handler: async ({ body: { email }, device: known, command }) => ({
        status: 200,
        body: wrap(await sendEmailCode({ email, known }, command)),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/auth/email-code/login',
      name: 'loginByEmailCode',
      tag: 'Accounts',
      summary: 'Sign in by a mailed code',
      description:
        'A code of six digits works once, for 10 minutes and five attempts; one of 20 characters for an hour. As the first proof of the address it voids the password, sessions and second factors of before, and takes back what the account gave: API keys, invitations and members. `POST /auth/email/verify` proves an address and voids nothing. `POST /auth/password` then sets a password without the current one.',
      request: { params: noParams, query: noQuery, body: codeLogin },
      replies: {
        200: {
          description: 'The user, and tokens of a new session.',
          schema: wrapped(signedIn),
        },
      },
      errors: ['invalid_credentials', 'account_banned', 'too_many_attempts'],
      limit: { name: 'login', counts: 'all' },
      cacheControl: 'no-store',
      deviceOf: ({ body: { email, device_token } }) => knownDevices.ofToken(email, device_token),
      handler: async ({ body: { email, code }, client, device: known, userAgent, command }) => {
        const reply = await loginByEmailCode({ email, code, clientIp: client, known, userAgent }, command);
        return { status: 200, body: wrap(presentSignedIn(reply)) };
      },
    }),
  ];
}
