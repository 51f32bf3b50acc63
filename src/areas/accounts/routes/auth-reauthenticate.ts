import type { AccountCommands } from '../commands/index.js';
import { z } from 'zod';
import type { ReauthenticationProof } from '../commands/reauthenticating.js';
import { noContent } from '../../../http/replies/reply.js';
import { wrap, wrapped } from '../../../http/resources.js';
import { noFields, noParams, noQuery } from '../../../http/route-spec.js';
import { defineRoute, type Route } from '../../../http/route.js';
import { invalid } from '../../../validation/invalid-request.js';
import { ruled } from '../../../validation/zod-problems.js';
import { deviceOfSession, knownPassword, signInCode } from './auth-fields.js';
import { authenticationResponse, lacksPasskeys, requestOptions } from './passkeys/passkey-fields.js';

/** A field of the body for each method. Exactly one is expected. */
const presentedProof = z
  .strictObject({
    password: knownPassword.optional(),
    code: signInCode
      .optional()
      .meta({ description: 'From `POST /auth/email-code/send` for the own address.' }),
    passkey: authenticationResponse
      .optional()
      .meta({ description: 'To the options of `POST /auth/reauthenticate/options`.' }),
  })
  .check(
    ruled((body) => {
      const [first, second] = Object.entries(body).filter(([, proof]) => proof !== undefined);
      if (first === undefined) invalid('password', 'is missing: give it, code or passkey', 'missing');
      if (second !== undefined) {
        invalid(second[0], `cannot be given beside ${first[0]}: leave one of them out`, 'not_allowed');
      }
    }),
  )
  .meta({ id: 'Reauthentication', description: 'Either `password`, `code` or `passkey`.' });

/** Makes the route that proves the user of a session again (src/areas/accounts/commands/README.md#fresh-authentication). */
export function makeReauthenticationRoutes({
  reauthenticate,
  passkeyOptions,
  knownDevices,
  passkeys,
}: Pick<AccountCommands, 'reauthenticate' | 'passkeyOptions' | 'knownDevices'> & {
  readonly passkeys: object | null;
}): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/auth/reauthenticate/options',
      name: 'getReauthenticationOptions',
      tag: 'Accounts',
      summary: 'Ask for a challenge to authenticate again by a passkey',
      request: { params: noParams, query: noQuery, body: noFields },
      replies: { 200: { description: 'Options for the browser.', schema: wrapped(requestOptions) } },
      errors: ['passkeys_not_configured'],
      lacks: lacksPasskeys(passkeys),
      cacheControl: 'no-store',
      handler: ({ caller: { sessionId }, command: { time } }) => {
        const publicKey = passkeyOptions.forSignIn({ purpose: 'reauthenticate', sessionId }, time);
        return { status: 200, body: wrap({ publicKey }) };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/auth/reauthenticate',
      name: 'reauthenticate',
      tag: 'Accounts',
      summary:
        'Prove the password, a mailed code or a passkey again; calls that need it are open for 15 minutes',
      description:
        'The way on after 403 `reauthentication_required`, and with `passkey` after 403 `two_factor_required`: a passkey passes every factor.',
      request: { params: noParams, query: noQuery, body: presentedProof },
      replies: { 204: { description: 'The session is fresh for 15 minutes.', schema: noContent } },
      errors: [
        'invalid_credentials',
        'too_many_attempts',
        'password_not_checkable',
        'passkeys_not_configured',
      ],
      limit: { name: 'login', counts: 'all' },
      cacheControl: 'no-store',
      deviceOf: deviceOfSession(knownDevices),
      handler: async ({ caller: { userId, sessionId }, client, device: known, body, command }) => {
        const presented = proofOf(body);
        await reauthenticate({ userId, sessionId, clientIp: client, known, presented }, command);
        return { status: 204, body: undefined };
      },
    }),
  ];
}

function proofOf({ password, code = '', passkey }: z.output<typeof presentedProof>): ReauthenticationProof {
  if (passkey !== undefined) return { method: 'passkey', proof: passkey };
  return password === undefined ? { method: 'email', proof: code } : { method: 'pwd', proof: password };
}
