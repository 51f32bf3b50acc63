import type { ShareCommands } from '../commands/index.js';
import { checkShareMail } from '../commands/mails/mail-share.js';
import { z } from 'zod';
import { actingOf } from '../../../http/access/credentials.js';
import { noQuery } from '../../../http/route-spec.js';
import { defineRoute, type Route } from '../../../http/route.js';
import { emailField } from '../../accounts/routes/auth-fields.js';
import { shareParams, sharePath } from './shares.js';

const shareMail = z
  .strictObject({
    to: z
      .array(emailField)
      .min(1)
      .max(10)
      .meta({ description: 'Each gets a separate mail, and no address sees another one.' }),
    message: z.string().max(2_048).nullable().optional().meta({
      maxLength: 500,
      description: 'The mail quotes it as the words of the sender. Null: none.',
    }),
  })
  .meta({ id: 'ShareMail' });
const shareMailed = z
  .strictObject({ addresses: z.int().meta({ description: 'How many addresses get a mail.' }) })
  .meta({ id: 'ShareMailRequested' });

/** Makes the route that mails links of shares (src/areas/shares/README.md#mails-with-the-link). */
export function makeShareMailRoutes({ mailShare }: Pick<ShareCommands, 'mailShare'>): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: `${sharePath}/mail`,
      name: 'mailShare',
      tag: 'Shares',
      summary: "Mail a share's URL",
      description:
        "The mail has the URL, the project's name and the share's end, and never the password. The caller, or the user who issued the API key, has proved an address (403 `email_not_verified`). Mails are limited by user, project and address (429). A share that does not open for visitors is 409. The reply is the same for every address.",
      request: { params: shareParams, query: noQuery, body: shareMail },
      replies: { 202: { description: 'The mails are sent within moments.', schema: shareMailed } },
      errors: ['conflict', 'email_not_verified', 'mail_not_configured', 'too_many_attempts'],
      idempotent: true,
      check: ({ body: { to, message = null } }) => {
        checkShareMail({ to, message });
      },
      handler: async ({ params, body: { to, message = null }, caller, command }) => {
        const sender = caller.kind === 'session' ? actingOf(caller) : { keyId: caller.keyId };
        const addresses = await mailShare({ ...params, to, message, sender }, command);
        return { status: 202, body: { addresses } };
      },
    }),
  ];
}
