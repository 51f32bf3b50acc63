import { namedObject } from '../../../validation/fields.js';
import type { AccountCommands } from '../commands/index.js';
import { z } from 'zod';
import { signedIn, tokens, wrap, wrapped } from '../../../http/resources.js';
import { type Route, empty, finished, json, ok, routesOf } from '../../../http/route.js';
import { emailField, givenDeviceToken, knownPassword, signedInBody, signInCode } from './auth-fields.js';
import { HttpError } from '../../../http/replies/error-codes.js';

const credentials = namedObject('Credentials', {
  email: emailField,
  password: knownPassword,
  device_token: givenDeviceToken,
});

const refreshRequest = z.strictObject({ refresh_token: z.string().min(1).max(512) });

const logoutRequest = z.strictObject({
  all: z.boolean().default(false).describe('End all sessions of the user.'),
});

const codeRequest = namedObject('EmailCodeRequest', { email: emailField, device_token: givenDeviceToken });

const codeLogin = namedObject('EmailCodeLogin', {
  email: emailField,
  code: signInCode,
  device_token: givenDeviceToken,
});

/**
 * Makes the routes that sign in by password, refresh tokens, and sign out (src/areas/accounts/README.md#rules-of-an-account), and sign-in
 * by a mailed code (src/areas/accounts/commands/README.md#email-codes, docs/api.md#45-post-apiv1authemail-codesend).
 */
export function makeLoginRoutes(
  deps: AccountCommands & { readonly mailConfigured: boolean },
): readonly Route[] {
  const { login, knownDevices, refresh, logout, sendEmailCode, loginByEmailCode, mailConfigured } = deps;
  const route = routesOf({ tag: 'Accounts' });
  return [
    route('login', 'POST /api/v1/auth/login', {
      summary: 'Sign in by e-mail address and password',
      description:
        'After 5 failures for one account from one client further tries have to wait: 1 second, doubling to 15 minutes.',
      request: { body: credentials },
      replies: { 200: json('The user, and tokens of a new session.', wrapped(signedIn)) },
      errors: ['invalid_credentials', 'too_many_attempts', 'account_banned'],
      limit: { name: 'login', counts: 'all' },
      deviceOf: ({ body: { email, device_token } }) => knownDevices.ofToken(email, device_token),
      handler: async ({ body: { email, password }, trying: client, userAgent, command }) =>
        ok(signedInBody(await login({ email, password, client, userAgent }, command))),
    }),
    route('refresh', 'POST /api/v1/auth/refresh', {
      summary: 'Exchange a refresh token for new tokens',
      description:
        'A refresh token is replaced when it is used. Until 10 seconds after its successor was used, it gives the same successor; a later use ends the session, because someone else may have it.',
      request: { body: refreshRequest },
      replies: { 200: json('The new tokens of the session.', wrapped(z.strictObject({ tokens }))) },
      errors: ['invalid_token', 'refresh_token_reused', 'conflict'],
      limit: { name: 'refresh', counts: 'all' },
      handler: async ({ body, command }) =>
        ok(wrap({ tokens: await refresh({ refreshToken: body.refresh_token }, command) })),
    }),
    route('logout', 'POST /api/v1/auth/logout', {
      summary: 'Sign out, here or everywhere',
      request: { body: logoutRequest },
      replies: { 204: empty('The session has ended.') },
      // Who knows the password alone must not end the sessions and the known devices of the owner.
      guards: ({ body: { all } }) => (all ? 'use' : null),
      handler: ({ body: { all }, caller: { userId, sessionId }, command }) =>
        finished(logout({ userId, sessionId, all }, command)),
    }),
    route('sendEmailCode', 'POST /api/v1/auth/email-code/send', {
      summary: 'Send a login code to an e-mail address',
      description:
        'The reply does not tell whether there is an account. An address gets one code a minute and six an hour; further requests are answered alike and send nothing.',
      request: { body: codeRequest },
      replies: {
        200: json(
          'Seconds that a code lives, and after which another may be asked for.',
          wrapped(z.strictObject({ expires_in: z.int(), resend_after: z.int() })),
        ),
      },
      errors: ['mail_not_configured'],
      lacks: () =>
        mailConfigured ? null : new HttpError('mail_not_configured', 'the service cannot send mail'),
      limit: [
        { name: 'email_code', counts: [200] },
        { name: 'email_code_day', counts: [200] },
      ],
      deviceOf: ({ body: { email, device_token } }) => knownDevices.ofToken(email, device_token),
      handler: async ({ body: { email }, trying: { known }, command }) =>
        ok(wrap(await sendEmailCode({ email, known }, command))),
    }),
    route('loginByEmailCode', 'POST /api/v1/auth/email-code/login', {
      summary: 'Sign in by a mailed code',
      description:
        'A code of six digits works once, for 10 minutes and five attempts; one of 20 characters for an hour. As the first proof of the address it voids the password, sessions and second factors of before, and takes back what the account gave: API keys, invitations and members. `POST /auth/email/verify` proves an address and voids nothing. `POST /auth/password` then sets a password without the current one.',
      request: { body: codeLogin },
      replies: { 200: json('The user, and tokens of a new session.', wrapped(signedIn)) },
      errors: ['invalid_credentials', 'account_banned', 'too_many_attempts'],
      limit: { name: 'login', counts: 'all' },
      deviceOf: ({ body: { email, device_token } }) => knownDevices.ofToken(email, device_token),
      handler: async ({ body: { email, code }, trying: client, userAgent, command }) =>
        ok(signedInBody(await loginByEmailCode({ email, code, client, userAgent }, command))),
    }),
  ];
}
