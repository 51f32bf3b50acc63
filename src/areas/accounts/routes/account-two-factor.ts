import { namedObject } from '../../../validation/fields.js';
import type { AccountCommands } from '../commands/index.js';
import { z } from 'zod';
import type { SessionPasskey, TypedFactor } from '../commands/factors/second-factors.js';
import type { RouteLimit } from '../../../http/access/limits.js';
import { deviceToken, tokens, wrap, wrapped } from '../../../http/resources.js';
import { noFields } from '../../../http/route-spec.js';
import { invalid } from '../../../validation/field-problems.js';
import { ruled } from '../../../validation/zod-problems.js';
import { type Route, empty, finished, json, ok, routesOf } from '../../../http/route.js';
import type { SessionCaller } from '../../../http/access/access.js';
import { deviceOfSession, recoveryCodesOfFirst, shownCodes, sessionOf } from './auth-fields.js';

const code = z
  .string()
  .max(64)
  .meta({ description: 'Six digits from the authenticator app; good for one use.', examples: ['492039'] });
const recoveryCode = z
  .string()
  .max(64)
  .meta({ description: 'In place of `code`; good for one use.', examples: ['7QK2M-9XW4T'] });

const typedCode = namedObject('TotpCode', { code });
const codeUnlessPasskey = z
  .strictObject({ code: code.optional() })
  .meta({ id: 'TotpCodeUnlessPasskey', description: 'Empty with a fresh passkey.' });
const factorFields = z.strictObject({ code: code.optional(), recovery_code: recoveryCode.optional() });
const factorUnlessPasskey = factorFields
  .check(ruled(oneAtMost))
  .meta({ id: 'FactorUnlessPasskey', description: 'Empty with a fresh passkey.' });
const typedFactor = factorFields
  .check(
    ruled((body) => {
      oneAtMost(body);
      if (body.code === undefined && body.recovery_code === undefined)
        invalid('code', 'is missing: give it, or recovery_code', 'missing');
    }),
  )
  .meta({ id: 'SecondFactor', description: 'Either `code` or `recovery_code`.' });

const enrolment = namedObject('TotpEnrolment', {
  secret: z.string().describe('Base32, for typing it into the app.'),
  otpauth_url: z.string().describe('For a QR code.'),
});
const recoveryCodes = namedObject('IssuedRecoveryCodes', { recovery_codes: recoveryCodesOfFirst });

const tries: RouteLimit = { name: 'two_factor', counts: 'all' };
const refusals = ['invalid_credentials', 'too_many_attempts', 'conflict'] as const;

/** Makes the routes of the second factor, TOTP (docs/accounts.md#second-factor). */
export function makeTwoFactorRoutes(deps: AccountCommands): readonly Route[] {
  const { enrolTotp, hasEnrolmentEnded, confirmTotp, removeTotp, replaceRecoveryCodes } = deps;
  const { passSecondFactor, knownDevices } = deps;
  const deviceOf = deviceOfSession(knownDevices);
  const route = routesOf({ tag: 'Accounts' });
  return [
    route('enrolTotp', 'POST /api/v1/auth/2fa/totp', {
      summary: 'Make a secret for an authenticator app; confirming its first code turns TOTP on',
      request: { body: noFields },
      replies: { 201: json('The secret, shown this one time.', wrapped(enrolment)) },
      errors: ['conflict'],
      idempotent: true,
      // The secret that is in use is not shown again, and neither is one that another enrolment has replaced.
      isGone: ({ secret }, { caller: { userId } }) => hasEnrolmentEnded({ userId, secret }),
      handler: async ({ caller: { userId }, command }) => {
        const { secret, url } = await enrolTotp({ userId }, command);
        return { status: 201, body: wrap({ secret, otpauth_url: url }) };
      },
    }),
    route('confirmTotp', 'POST /api/v1/auth/2fa/totp/confirm', {
      summary: 'Turn TOTP on with the first code, which passes the second factor too',
      request: { body: typedCode },
      replies: {
        200: json(
          'The recovery codes that come with the first factor of the account.',
          wrapped(recoveryCodes),
        ),
      },
      errors: refusals,
      limit: tries,
      deviceOf,
      handler: async ({ caller, trying: client, body: { code: typed }, command }) => {
        const input = { userId: caller.userId, session: sessionOf(caller), client, code: typed };
        const codes = await confirmTotp(input, command);
        return ok(wrap({ recovery_codes: shownCodes(codes) }));
      },
    }),
    route('removeTotp', 'POST /api/v1/auth/2fa/totp/remove', {
      summary: 'Turn TOTP off; without a passkey, the recovery codes end too',
      request: { body: factorUnlessPasskey },
      replies: { 204: empty('No code of the app counts any more.') },
      errors: refusals,
      limit: tries,
      deviceOf,
      handler: ({ caller, trying: client, body, command }) =>
        finished(removeTotp({ ...provedBy(body, caller), client }, command)),
    }),
    route('replaceRecoveryCodes', 'POST /api/v1/auth/2fa/recovery-codes', {
      summary: 'Replace the recovery codes',
      request: { body: codeUnlessPasskey },
      replies: { 200: json('The recovery codes.', wrapped(recoveryCodes)) },
      errors: refusals,
      limit: tries,
      deviceOf,
      handler: async ({ caller, trying: client, body, command }) => {
        const codes = await replaceRecoveryCodes({ ...provedBy(body, caller), client }, command);
        return ok(wrap({ recovery_codes: [...codes] }));
      },
    }),
    route('passSecondFactor', 'POST /api/v1/auth/2fa/verify', {
      summary: 'Pass the second factor with a code',
      description: 'A recovery code counts as a passkey, too.',
      request: { body: typedFactor },
      replies: {
        200: json(
          "The session's tokens from now on.",
          wrapped(z.strictObject({ tokens, device_token: deviceToken })),
        ),
      },
      errors: refusals,
      limit: tries,
      deviceOf,
      handler: async ({ caller: { userId, sessionId }, trying: client, body, command }) => {
        const tried = { userId, sessionId, client, factor: factorOf(body) };
        const { tokens: pair, deviceToken: device_token } = await passSecondFactor(tried, command);
        return ok(wrap({ tokens: pair, device_token }));
      },
    }),
  ];
}

type FactorFields = z.output<typeof factorFields>;

function oneAtMost({ code: typed, recovery_code: recovery }: FactorFields): void {
  if (typed === undefined || recovery === undefined) return;
  invalid('recovery_code', 'takes the place of code: leave one of them out', 'not_allowed');
}

function factorOf({ code: typed, recovery_code: recovery = '' }: FactorFields): TypedFactor {
  return typed === undefined ? { recoveryCode: recovery } : { code: typed };
}

/** Returns the account, the session and the factor of a request. */
function provedBy(body: FactorFields, caller: SessionCaller) {
  return {
    userId: caller.userId,
    session: sessionOf(caller),
    factor: factorOrPasskey(body, caller),
  };
}

/** Returns the factor of the body. Where an account has a passkey, the gate admits only sessions that have just proved it. */
function factorOrPasskey(body: FactorFields, { factors }: SessionCaller): TypedFactor | SessionPasskey {
  if (body.code !== undefined || body.recovery_code !== undefined) return factorOf(body);
  if (factors.passkey) return 'passkey-of-session';
  return invalid(
    'code',
    'is missing: only a session that has just proved a passkey leaves it out',
    'missing',
  );
}
