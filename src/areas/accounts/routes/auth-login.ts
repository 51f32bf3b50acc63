import type { AccountCommands } from '../commands/index.js';
import { z } from 'zod';
import { noContent } from '../../../http/replies/reply.js';
import { signedIn, tokens, wrap, wrapped } from '../../../http/resources.js';
import { noParams, noQuery } from '../../../http/route-spec.js';
import { defineRoute, type Route } from '../../../http/route.js';
import { givenDeviceToken, emailField, knownPassword, presentSignedIn } from './auth-fields.js';

const credentials = z
  .strictObject({ email: emailField, password: knownPassword, device_token: givenDeviceToken })
  .meta({ id: 'Credentials' });

const refreshRequest = z.strictObject({ refresh_token: z.string().min(1).max(512) });

const logoutRequest = z.strictObject({
  all: z.boolean().default(false).meta({ description: 'End all sessions of the user.' }),
});

/** Makes the routes that sign in by password, refresh tokens, and sign out (src/areas/accounts/README.md#rules-of-an-account). */
export function makeLoginRoutes({
  login,
  knownDevices,
  refresh,
  logout,
}: Pick<AccountCommands, 'login' | 'knownDevices' | 'refresh' | 'logout'>): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/auth/login',
      name: 'login',
      tag: 'Accounts',
      summary: 'Sign in by e-mail address and password',
      description:
        'After 5 failures for one account from one client further tries have to wait: 1 second, doubling to 15 minutes.',
      request: { params: noParams, query: noQuery, body: credentials },
      replies: {
        200: {
          description: 'The user, and tokens of a new session.',
          schema: wrapped(signedIn),
        },
      },
      errors: ['invalid_credentials', 'too_many_attempts', 'account_banned'],
      limit: { name: 'login', counts: 'all' },
      cacheControl: 'no-store',
      deviceOf: ({ body: { email, device_token } }) => knownDevices.ofToken(email, device_token),
      handler: async ({ body: { email, password }, client, device: known, userAgent, command }) => {
        const reply = await login({ email, password, clientIp: client, known, userAgent }, command);
        return { status: 200, body: wrap(presentSignedIn(reply)) };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/auth/refresh',
      name: 'refresh',
      tag: 'Accounts',
      summary: 'Exchange a refresh token for new tokens',
      description:
        'A refresh token is replaced when it is used. Until 10 seconds after its successor was used, it gives the same successor; a later use ends the session, because someone else may have it.',
      request: { params: noParams, query: noQuery, body: refreshRequest },
      replies: {
        200: { description: 'The new tokens of the session.', schema: wrapped(z.strictObject({ tokens })) },
      },
      errors: ['invalid_token', 'refresh_token_reused', 'conflict'],
      limit: { name: 'refresh', counts: 'all' },
      cacheControl: 'no-store',
      handler: async ({ body, command }) => ({
        status: 200,
        body: wrap({ tokens: await refresh({ refreshToken: body.refresh_token }, command) }),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/auth/logout',
      name: 'logout',
      tag: 'Accounts',
      summary: 'Sign out, here or everywhere',
      request: { params: noParams, query: noQuery, body: logoutRequest },
      replies: { 204: { description: 'The session has ended.', schema: noContent } },
      handler: async ({ body: { all }, caller: { userId, sessionId }, command }) => {
        await logout({ userId, sessionId, all }, command);
        return { status: 204, body: undefined };
      },
    }),
  ];
}
