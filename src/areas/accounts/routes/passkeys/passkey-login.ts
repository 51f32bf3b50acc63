import { z } from 'zod';
import type { AccountCommands } from '../../commands/index.js';
import { signedIn, wrap, wrapped } from '../../../../http/resources.js';
import { noFields, noParams, noQuery } from '../../../../http/route-spec.js';
import { defineRoute, type Route } from '../../../../http/route.js';
import { presentSignedIn } from '../auth-fields.js';
import { authenticationResponse, lacksPasskeys, requestOptions } from './passkey-fields.js';

/** Makes sign-in by a passkey (src/areas/accounts/commands/README.md#passkeys). */
export function makePasskeyLoginRoutes({
  passkeyOptions,
  loginByPasskey,
  passkeys,
}: Pick<AccountCommands, 'passkeyOptions' | 'loginByPasskey'> & {
  readonly passkeys: object | null;
}): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/auth/passkey-login/options',
      name: 'getPasskeyLoginOptions',
      tag: 'Accounts',
      summary: 'Ask for a challenge to sign in by a passkey',
      description:
        'The service stores nothing. The options name no passkey: the browser offers those that it finds.',
      request: { params: noParams, query: noQuery, body: noFields },
      replies: { 200: { description: 'Options for the browser.', schema: wrapped(requestOptions) } },
      errors: ['passkeys_not_configured'],
      lacks: lacksPasskeys(passkeys),
      limit: { name: 'passkey_options', counts: 'all' },
      cacheControl: 'no-store',
      handler: ({ command: { time } }) => {
        const publicKey = passkeyOptions.forSignIn({ purpose: 'sign-in', sessionId: null }, time);
        return { status: 200, body: wrap({ publicKey }) };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/auth/passkey-login',
      name: 'loginByPasskey',
      tag: 'Accounts',
      summary: 'Sign in by a passkey; it counts as both factors',
      description: 'All refusals have the same text. A challenge is good for one use.',
      request: {
        params: noParams,
        query: noQuery,
        body: z.strictObject({ credential: authenticationResponse }).meta({ id: 'PasskeyLogin' }),
      },
      replies: {
        200: {
          description: 'The user, and tokens of a new session.',
          schema: wrapped(signedIn),
        },
      },
      errors: ['passkeys_not_configured', 'invalid_credentials', 'account_banned'],
      lacks: lacksPasskeys(passkeys),
      limit: { name: 'login', counts: 'all' },
      cacheControl: 'no-store',
      handler: async ({ body: { credential: response }, client, userAgent, command }) => {
        const reply = await loginByPasskey({ response, clientIp: client, userAgent }, command);
        return { status: 200, body: wrap(presentSignedIn(reply)) };
      },
    }),
  ];
}
