import type { AccountCommands } from '../commands/index.js';
import { z } from 'zod';
import { emailVerificationSeconds } from '../commands/email-verification.js';
import { noContent } from '../../../http/replies/reply.js';
import { wrap, wrapped } from '../../../http/resources.js';
import { noFields, noParams, noQuery } from '../../../http/route-spec.js';
import { defineRoute, type Route } from '../../../http/route.js';
import { addressCodeSent, resendSeconds } from './auth-fields.js';

/** Makes the routes that prove the address of the caller's account (src/areas/accounts/commands/README.md#proof-of-an-address). */
export function makeEmailVerificationRoutes({
  requestEmailVerification,
  confirmEmailVerification,
}: Pick<AccountCommands, 'requestEmailVerification' | 'confirmEmailVerification'>): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/auth/email/verify',
      name: 'confirmEmailVerification',
      tag: 'Accounts',
      summary: 'Prove the address of the account by the code that was mailed there; it voids nothing',
      description:
        'A registration mails the code. It works for 24 hours and may be tried five times. A proved address stays proved, so a repetition is 204 too.',
      request: {
        params: noParams,
        query: noQuery,
        body: z.strictObject({ code: z.string().max(64) }).meta({ id: 'EmailVerification' }),
      },
      replies: { 204: { description: 'The address is proved.', schema: noContent } },
      errors: ['invalid_credentials', 'too_many_attempts'],
      handler: async ({ caller: { userId, sessionId, sessionEpoch }, body: { code }, command }) => {
        const session = { id: sessionId, epoch: sessionEpoch };
        await confirmEmailVerification({ userId, session, code }, command);
        return { status: 204, body: undefined };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/auth/email/verify/send',
      name: 'requestEmailVerification',
      tag: 'Accounts',
      summary: 'Mail another code that proves the address of the account',
      description:
        'The code before it ends. An account gets one code a minute and six an hour, an address ten a day.',
      request: { params: noParams, query: noQuery, body: noFields },
      replies: { 200: { description: 'A code is on its way.', schema: wrapped(addressCodeSent) } },
      errors: ['mail_not_configured', 'conflict', 'too_many_attempts'],
      limit: { name: 'email_change', counts: [200] },
      handler: async ({ caller: { userId }, command }) => {
        await requestEmailVerification({ userId }, command);
        const sent = { expires_in: emailVerificationSeconds, resend_after: resendSeconds };
        return { status: 200, body: wrap(sent) };
      },
    }),
  ];
}
