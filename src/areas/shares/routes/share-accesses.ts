import { namedObject } from '../../../validation/fields.js';
import type { ShareDeps } from '../deps.js';
import { z } from 'zod';
import { creationQuery, pageOf, readCreationPage } from '../../../../projections/paging.js';
import { shareAccessResource } from '../../../../projections/shares/share-accesses/reader.js';
import { type Route, json, ok, routesOf } from '../../../http/route.js';
import { missingShare, shareParams, sharePath } from './shares.js';
import type { ShareCommands } from '../commands/index.js';
import { checkShareMail, shareMailAddressesMax } from '../commands/mails/mail-share.js';
import { actingOf } from '../../../http/access/authenticate.js';
import { emailField } from '../../accounts/routes/auth-fields.js';

const shareMail = namedObject('ShareMail', {
  to: z
    .array(emailField)
    .min(1)
    .max(shareMailAddressesMax)
    .describe('Each gets a separate mail, and no address sees another one.'),
  message: z.string().max(2_048).nullable().optional().meta({
    maxLength: 500,
    description: 'The mail quotes it as the words of the sender. Null: none.',
  }),
});
const shareMailed = namedObject('ShareMailRequested', {
  addresses: z.int().describe('How many addresses get a mail.'),
});

const accessQuery = creationQuery.extend({
  opened_after: z.iso.datetime({ offset: true }).optional(),
  opened_before: z.iso.datetime({ offset: true }).optional(),
  downloaded: z.enum(['true', 'false']).optional().describe('Whether the visitor saved an asset.'),
});

/**
 * Makes the routes by which members see when a share was opened (src/areas/shares/README.md#share-verification), and mail its link
 * (src/areas/shares/README.md#mails-with-the-link).
 */
export function makeShareAccessRoutes(
  deps: Pick<ShareCommands, 'mailShare'> & Pick<ShareDeps, 'shares' | 'shareAccesses'>,
): readonly Route[] {
  const { mailShare, shares, shareAccesses } = deps;
  const route = routesOf({ tag: 'Shares', path: sharePath, params: shareParams });
  return [
    route('listShareAccesses', 'GET /accesses', {
      summary: 'When a share was opened, newest first',
      description: 'Also of a share that was revoked, if it was ever opened.',
      request: { query: accessQuery },
      replies: { 200: json('A page of accesses.', pageOf(shareAccessResource)) },
      handler: async ({ params, query: { limit, cursor, sort, downloaded, ...period } }) => {
        const filter = {
          ...period,
          downloaded: downloaded === undefined ? undefined : downloaded === 'true',
        };
        const body = await readCreationPage({ limit, cursor, sort }, (page) =>
          shareAccesses.page(params, page, filter),
        );
        const { projectId, shareId } = params;
        if (body.items.length === 0 && (await shares.find(projectId, shareId)) === null) {
          // A share that was revoked is not found, but it may have accesses outside the filter.
          const all = { limit: 1, descending: true };
          if ((await shareAccesses.page(params, all, {})).items.length === 0) missingShare();
        }
        return ok(body);
      },
    }),
    route('mailShare', 'POST /mail', {
      summary: "Mail a share's URL",
      description:
        "The mail has the URL, the project's name and the share's end, and never the password. The caller, or the user who issued the API key, has proved an address (403 `email_not_verified`). Mails are limited by user, project and address (429). A share that does not open for visitors is 409. The reply is the same for every address.",
      request: { body: shareMail },
      replies: { 202: json('The mails are sent within moments.', shareMailed) },
      errors: ['conflict', 'email_not_verified', 'mail_not_configured', 'too_many_attempts'],
      idempotent: true,
      check: ({ body: { to, message = null } }) => checkShareMail({ to, message }),
      handler: async ({ params, body: { to, message = null }, caller, command }) => {
        const sender = caller.kind === 'session' ? actingOf(caller) : { keyId: caller.keyId };
        const addresses = await mailShare({ ...params, to, message, sender }, command);
        return { status: 202, body: { addresses } };
      },
    }),
  ];
}
