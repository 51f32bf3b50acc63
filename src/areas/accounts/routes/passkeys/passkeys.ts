import { nameField } from '../../../../validation/zod-problems.js';
import { namedObject } from '../../../../validation/fields.js';
import type { AccountDeps } from '../../deps.js';
import { z } from 'zod';
import type { AccountCommands } from '../../commands/index.js';
import { passkeyResource } from '../../../../../projections/accounts/users/resource.js';
import { signedIn, wrap, wrapped } from '../../../../http/resources.js';
import { noFields } from '../../../../http/route-spec.js';
import { type Route, empty, finished, json, ok, routesOf } from '../../../../http/route.js';
import { signedInBody, recoveryCodesOfFirst, shownCodes, sessionOf } from '../auth-fields.js';
import {
  authenticationResponse,
  creationOptions,
  lacksPasskeys,
  registrationResponse,
  requestOptions,
} from './passkey-fields.js';

const passkeyParams = z.object({ passkeyId: z.uuid().toLowerCase() });

const name = nameField('Laptop');

const newPasskey = namedObject('NewPasskey', {
  credential: registrationResponse,
  name: name.default('Passkey'),
});

const registeredPasskey = passkeyResource
  .extend({ recovery_codes: recoveryCodesOfFirst })
  .meta({ id: 'RegisteredPasskey' });

const path = '/api/v1/auth/passkeys';

/** Makes the routes of the caller's passkeys, and of sign-in by a passkey (src/areas/accounts/commands/README.md#passkeys). */
export function makePasskeyRoutes(
  deps: AccountCommands & Pick<AccountDeps, 'users'> & { readonly passkeys: object | null },
): readonly Route[] {
  const { passkeyOptions, registerPasskey, hasRegistrationEnded, renamePasskey, removePasskey } = deps;
  const { loginByPasskey, users, passkeys } = deps;
  const route = routesOf({ tag: 'Accounts' });
  return [
    route('getPasskeyOptions', 'POST /api/v1/auth/passkey-options', {
      summary: 'Ask for a challenge to register a passkey',
      request: { body: noFields },
      replies: { 200: json('Options for the browser.', wrapped(creationOptions)) },
      errors: ['passkeys_not_configured', 'conflict'],
      lacks: lacksPasskeys(passkeys),
      handler: async ({ caller: { userId, sessionId }, command: { time } }) => {
        const publicKey = await passkeyOptions.forRegistration({ userId, sessionId }, time);
        return ok(wrap({ publicKey }));
      },
    }),
    route('registerPasskey', `POST ${path}`, {
      summary: 'Register a passkey; an account has at most 20',
      request: { body: newPasskey },
      replies: {
        201: json(
          'The passkey, and the recovery codes that come with the first factor of the account.',
          wrapped(registeredPasskey),
        ),
      },
      errors: ['passkeys_not_configured', 'invalid_credentials', 'conflict'],
      lacks: lacksPasskeys(passkeys),
      idempotent: true,
      isGone: ({ id: passkeyId, recoveryCodes: codes }, { caller: { userId } }) =>
        hasRegistrationEnded({ userId, passkeyId, codes }),
      limit: { name: 'two_factor', counts: 'all' },
      handler: async ({ body: { credential: response, name: passkeyName }, caller, command }) => {
        const input = { userId: caller.userId, session: sessionOf(caller), response, name: passkeyName };
        const { passkey, recoveryCodes } = await registerPasskey(input, command);
        return { status: 201, body: wrap({ ...passkey, recovery_codes: shownCodes(recoveryCodes) }) };
      },
    }),
    route('listPasskeys', `GET ${path}`, {
      summary: "The caller's passkeys, in order of registration",
      replies: {
        200: json(
          'All of them: an account has at most 20.',
          wrapped(z.strictObject({ items: z.array(passkeyResource), next_cursor: z.null() })),
        ),
      },
      handler: async ({ caller }) => {
        const items = [...(await users.passkeys(caller.user.document))];
        return ok(wrap({ items, next_cursor: null }));
      },
    }),
    route('renamePasskey', `PATCH ${path}/:passkeyId`, {
      summary: 'Rename a passkey',
      request: { params: passkeyParams, body: namedObject('PasskeyName', { name }) },
      replies: { 200: json('The passkey.', wrapped(passkeyResource)) },
      handler: async ({ params: { passkeyId }, body, caller: { userId }, command }) =>
        ok(wrap(await renamePasskey({ userId, passkeyId, name: body.name }, command))),
    }),
    route('removePasskey', `DELETE ${path}/:passkeyId`, {
      summary: 'Remove a passkey; with the last factor, the recovery codes end',
      request: { params: passkeyParams },
      replies: { 204: empty('It is refused from now on.') },
      handler: ({ params: { passkeyId }, caller, command }) =>
        finished(removePasskey({ userId: caller.userId, passkeyId, session: sessionOf(caller) }, command)),
    }),
    route('getPasskeyLoginOptions', 'POST /api/v1/auth/passkey-login/options', {
      summary: 'Ask for a challenge to sign in by a passkey',
      description:
        'The service stores nothing. The options name no passkey: the browser offers those that it finds.',
      request: { body: noFields },
      replies: { 200: json('Options for the browser.', wrapped(requestOptions)) },
      errors: ['passkeys_not_configured'],
      lacks: lacksPasskeys(passkeys),
      limit: { name: 'passkey_options', counts: 'all' },
      handler: ({ command: { time } }) => {
        const publicKey = passkeyOptions.forSignIn({ purpose: 'sign-in', sessionId: null }, time);
        return ok(wrap({ publicKey }));
      },
    }),
    route('loginByPasskey', 'POST /api/v1/auth/passkey-login', {
      summary: 'Sign in by a passkey; it counts as both factors',
      description: 'All refusals have the same text. A challenge is good for one use.',
      request: { body: namedObject('PasskeyLogin', { credential: authenticationResponse }) },
      replies: { 200: json('The user, and tokens of a new session.', wrapped(signedIn)) },
      errors: ['passkeys_not_configured', 'invalid_credentials', 'account_banned'],
      lacks: lacksPasskeys(passkeys),
      limit: { name: 'login', counts: 'all' },
      handler: async ({ body: { credential: response }, trying: client, userAgent, command }) =>
        ok(signedInBody(await loginByPasskey({ response, client, userAgent }, command))),
    }),
  ];
}
