import { namedObject } from '../../../validation/fields.js';
import type { AccountDeps } from '../deps.js';
import type { AccountCommands } from '../commands/index.js';
import { z } from 'zod';
import { pageOf, pageQuery, readPage } from '../../../../projections/paging.js';
import { session, wrap, wrapped } from '../../../http/resources.js';
import { noFields } from '../../../http/route-spec.js';
import { type Route, empty, finished, json, ok, routesOf } from '../../../http/route.js';
import { deviceOfSession, knownPassword, newPassword, signInCode, sessionOf } from './auth-fields.js';
import type { ReauthenticationProof } from '../commands/signing-in/reauthenticating.js';
import { invalid } from '../../../validation/field-problems.js';
import { ruled } from '../../../validation/zod-problems.js';
import { authenticationResponse, lacksPasskeys, requestOptions } from './passkeys/passkey-fields.js';

const sessionParams = z.object({ sessionId: z.uuid().toLowerCase() });

const passwordChange = namedObject('PasswordChange', {
  current_password: knownPassword
    .describe('May be left out within 15 minutes of signing in by a mailed code: that is the password reset.')
    .optional(),
  new_password: newPassword,
});

/** A field of the body for each method. Exactly one is expected. */
const presentedProof = z
  .strictObject({
    password: knownPassword.optional(),
    code: signInCode.optional().describe('From `POST /auth/email-code/send` for the own address.'),
    passkey: authenticationResponse
      .optional()
      .describe('To the options of `POST /auth/reauthenticate/options`.'),
  })
  .check(
    ruled((body) => {
      const [first, second] = Object.entries(body).filter(([, proof]) => proof !== undefined);
      if (first === undefined) invalid('password', 'is missing: give it, code or passkey', 'missing');
      if (second !== undefined)
        invalid(second[0], `cannot be given beside ${first[0]}: leave one of them out`, 'not_allowed');
    }),
  )
  .meta({ id: 'Reauthentication', description: 'Either `password`, `code` or `passkey`.' });

/**
 * Makes the routes of a user's sessions, of the password change that ends them (src/areas/accounts/README.md#sessions), and of the proof
 * of the user of a session again (src/areas/accounts/commands/README.md#fresh-authentication).
 */
export function makeSessionRoutes(
  deps: AccountCommands & Pick<AccountDeps, 'sessions'> & { readonly passkeys: object | null },
): readonly Route[] {
  const { sessions, revokeSession, changePassword, knownDevices } = deps;
  const { reauthenticate, passkeyOptions, passkeys } = deps;
  const route = routesOf({ tag: 'Accounts' });
  return [
    route('getReauthenticationOptions', 'POST /api/v1/auth/reauthenticate/options', {
      summary: 'Ask for a challenge to authenticate again by a passkey',
      request: { body: noFields },
      replies: { 200: json('Options for the browser.', wrapped(requestOptions)) },
      errors: ['passkeys_not_configured'],
      lacks: lacksPasskeys(passkeys),
      handler: ({ caller: { sessionId }, command: { time } }) => {
        const publicKey = passkeyOptions.forSignIn({ purpose: 'reauthenticate', sessionId }, time);
        return ok(wrap({ publicKey }));
      },
    }),
    route('reauthenticate', 'POST /api/v1/auth/reauthenticate', {
      summary:
        'Prove the password, a mailed code or a passkey again; calls that need it are open for 15 minutes',
      description:
        'The way on after 403 `reauthentication_required`, and with `passkey` after 403 `two_factor_required`: a passkey passes every factor.',
      request: { body: presentedProof },
      replies: { 204: empty('The session is fresh for 15 minutes.') },
      errors: [
        'invalid_credentials',
        'too_many_attempts',
        'password_not_checkable',
        'passkeys_not_configured',
      ],
      limit: { name: 'login', counts: 'all' },
      deviceOf: deviceOfSession(knownDevices),
      handler: ({ caller: { userId, sessionId }, trying: client, body, command }) => {
        const presented = proofOf(body);
        return finished(reauthenticate({ userId, sessionId, client, presented }, command));
      },
    }),
    route('listSessions', 'GET /api/v1/auth/sessions', {
      summary: "The caller's sessions, newest first",
      request: { query: pageQuery },
      replies: { 200: json('A page of sessions.', wrapped(pageOf(session))) },
      handler: async ({ query, caller: { userId, sessionId, user }, command: { time } }) => {
        const page = await readPage(query, (wanted) => sessions.list({ ...user, id: userId }, wanted, time));
        const items = page.items.map((item) => ({ ...item, current: item.id === sessionId }));
        return ok(wrap({ ...page, items }));
      },
    }),
    route('revokeSession', 'DELETE /api/v1/auth/sessions/:sessionId', {
      summary: 'End one of the caller’s sessions',
      request: { params: sessionParams },
      replies: { 204: empty('The session has ended.') },
      handler: ({ params: { sessionId }, caller: { userId }, command }) =>
        finished(revokeSession({ userId, sessionId }, command)),
    }),
    route('changePassword', 'POST /api/v1/auth/password', {
      summary: 'Change the password, which ends all other sessions',
      request: { body: passwordChange },
      replies: { 204: empty('The password is the new one.') },
      errors: ['invalid_credentials', 'too_many_attempts', 'password_not_checkable'],
      limit: { name: 'login', counts: 'all' },
      deviceOf: deviceOfSession(knownDevices),
      handler: ({ body, caller, trying: client, command }) => {
        const { userId, emailCodeAt } = caller;
        const { current_password: currentPassword, new_password } = body;
        const session = { ...sessionOf(caller), emailCodeAt };
        return finished(
          changePassword({ userId, session, currentPassword, newPassword: new_password, client }, command),
        );
      },
    }),
  ];
}

function proofOf({ password, code = '', passkey }: z.output<typeof presentedProof>): ReauthenticationProof {
  if (passkey !== undefined) return { method: 'passkey', proof: passkey };
  return password === undefined ? { method: 'email', proof: code } : { method: 'pwd', proof: password };
}
