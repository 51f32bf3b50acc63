import type { ShareDeps } from '../deps.js';
import type { ShareCommands } from '../commands/index.js';
import { defaultTerms, shareLimits, shareRules } from '../commands/sharing.js';
import { definedOf, namedObject } from '../../../validation/fields.js';
import { invalid } from '../../../validation/field-problems.js';
import { besideOthers, judged } from '../../../validation/zod-problems.js';
import { z } from 'zod';
import type { ProjectAccess } from '../../../../projections/projects/projects/reader.js';
import type { Grants } from '../../../http/access/access.js';
import { contentTag } from '../../../http/replies/reply.js';
import { creationQuery, pageOf, readCreationPage } from '../../../../projections/paging.js';
import { qrCodeSvg } from './qr-code.js';
import { shareState } from '../../../../projections/shares/shares/reader.js';
import {
  type ShareResource,
  type ShownShare,
  shownShare,
} from '../../../../projections/shares/shares/resource.js';
import { roleAtLeast } from '../../projects/domain/role.js';
import {
  type Route,
  created,
  current,
  empty,
  finished,
  json,
  ok,
  routesOf,
  typed,
  missing,
} from '../../../http/route.js';
import { projectParams } from '../../projects/routes/projects.js';

const { framesMax, sharedAssetsMax, shareLives, shareNoteMax, shareTitleMax } = shareLimits;

const password = z
  .string()
  .max(512)
  .meta({ minLength: 4, maxLength: 128, examples: ['open sesame'] });
const openWithout = {
  description: 'Null: the share opens without a password. The project must allow it (`open_shares`).',
} as const;

const shareQuery = creationQuery.extend({
  state: shareState.optional(),
  tag: z.string().min(1).max(50).optional().describe('Only shares of this tag; capitals do not count.'),
  asset_id: z.uuid().toLowerCase().optional().describe('Only shares of this asset, without those of a tag.'),
});
const assetIds = z
  .array(z.uuid().toLowerCase())
  .min(1)
  .max(sharedAssetsMax)
  .check(judged(shareRules.assets))
  .describe('Several assets, in the order in which visitors see them, in place of `asset_id`.');

const sharedTag = z.string().max(512).check(judged(shareRules.tag)).meta({
  minLength: 1,
  maxLength: 50,
  description:
    'In place of `asset_id`: the newest 50 assets that have the tag when the share is opened. Capitals do not count.',
});

const terms = z.strictObject({
  expires_at: z.iso.datetime({ offset: true }).nullable().describe('Null: never.'),
  expires_in: z.enum(['1h', '1d', '7d', '30d']).meta({
    id: 'ShareTerm',
    description: 'The end as a time from now, in place of `expires_at`: an hour, a day, 7 days or 30 days.',
  }),
  max_uses: z
    .int()
    .min(1)
    .max(10_000)
    .nullable()
    .describe('How often the password may be used. Null: any number.'),
  title: z.string().max(512).nullable().check(judged(shareRules.title)).meta({
    maxLength: shareTitleMax,
    description: 'For visitors. Null: none.',
  }),
  note: z.string().max(8_192).nullable().check(judged(shareRules.note)).meta({
    maxLength: shareNoteMax,
    description: 'For visitors. Null: none.',
  }),
  frame_ancestors: z
    .array(z.string().max(300))
    .max(framesMax)
    .check(judged(shareRules.framing))
    .describe('The origins whose pages may show the share in a frame.'),
  allow_download: z
    .boolean()
    .describe('Whether visitors are offered to save the media. A browser keeps what it shows.'),
  notify_sharer: z.boolean().describe('Whether the sharer gets a mail at the first opening.'),
  show_sender: z
    .boolean()
    .describe(
      'Whether visitors see the nickname of the sharer after the password. They never see the address.',
    ),
});
const { allow_download, notify_sharer, show_sender } = terms.shape;

const shareCreation = namedObject('ShareCreation', {
  asset_id: z.uuid().toLowerCase().optional(),
  asset_ids: assetIds.optional(),
  tag: sharedTag.optional(),
  password: password.check(judged(shareRules.password)).nullable().meta(openWithout),
  ...terms.partial().shape,
  allow_download: allow_download.default(defaultTerms.allow_download),
  notify_sharer: notify_sharer.default(defaultTerms.notify_sharer),
  show_sender: show_sender.default(defaultTerms.show_sender),
});

const shareChange = z
  .strictObject({ password: password.nullable().meta(openWithout), ...terms.shape })
  .partial()
  // A share that does not exist is 404 before the rules of its password.
  .check(besideOthers(({ password: text }) => typeof text === 'string' && shareRules.passwordField(text)))
  .meta({ id: 'ShareChange' });

export const shareParams = projectParams.extend({ shareId: z.uuid().toLowerCase() });
const path = '/api/v1/projects/:projectId/shares';
export const sharePath = `${path}/:shareId`;

/** Makes the routes by which members manage shares (src/areas/shares/README.md#rules-of-a-share). */
export function makeShareRoutes(deps: ShareCommands & Pick<ShareDeps, 'shares'>): readonly Route[] {
  const { createShare, changeShare, revokeShare, shares } = deps;
  const route = routesOf({ tag: 'Shares', path, params: shareParams });
  return [
    route('createShare', 'POST', {
      entityTag: true,
      summary: 'Share assets behind a password',
      description: 'Exactly one of `asset_id`, `asset_ids` and `tag` says what is shared.',
      request: { params: projectParams, body: shareCreation },
      replies: { 201: json('The share, with the URL to pass on.', shownShare) },
      errors: ['not_found', 'conflict', 'too_many_attempts'],
      idempotent: true,
      isGone: async ({ id }, { params: { projectId } }) => (await shares.find(projectId, id)) === null,
      check: ({ body, earliest }) => {
        nameOneThing(body);
        shareRules.end(endOf(body, earliest) ?? null, earliest);
      },
      handler: async ({ params: { projectId }, body, caller, command }) => {
        const { asset_id, asset_ids = [], tag = null, ...given } = withEnd(body, command.time);
        const input = {
          ...{ ...defaultTerms, ...given, projectId, tag, password: body.password },
          asset_ids: asset_id === undefined ? asset_ids : [asset_id],
          created_by: caller.kind === 'session' ? caller.userId : null,
        };
        return created(await createShare(input, command), `/api/v1/projects/${projectId}/shares`);
      },
    }),
    route('listShares', 'GET', {
      summary: "A project's shares, newest first",
      description: 'Those that have expired or are used up are listed, those that were revoked are not.',
      request: { params: projectParams, query: shareQuery },
      replies: { 200: json('A page of shares.', pageOf(shownShare)) },
      handler: async ({ params: { projectId }, query, caller, project, command: { time: now } }) => {
        const { asset_id: assetId, tag, state, ...list } = query;
        const filter = { assetId, tag, state, now };
        const body = await readCreationPage(list, (page) => shares.page(projectId, page, filter));
        return ok({ ...body, items: body.items.map(shownTo(caller, project)) });
      },
    }),
    route('getShare', 'GET /:shareId', {
      entityTag: true,
      summary: 'One share',
      replies: { 200: json('The share.', shownShare) },
      wanted: ({ shareId }) => shares.wanted(shareId),
      handler: async ({ params: { projectId, shareId }, caller, project, found }) => {
        const { resource, revision } = (await shares.find(projectId, shareId, found)) ?? missingShare();
        return { status: 200, body: shownTo(caller, project)(resource), revision };
      },
    }),
    route('changeShare', 'PATCH /:shareId', {
      summary: 'Change a share',
      description: 'Another password, or none, ends the sessions of all visitors at once.',
      request: { body: shareChange },
      replies: { 200: json('The share as it is now.', shownShare) },
      errors: ['conflict', 'too_many_attempts'],
      ifMatch: true,
      handler: async ({ params, body, command, expectedRevision }) =>
        current(
          await changeShare({ ...params, changes: withEnd(body, command.time) }, command, {
            expectedRevision,
          }),
        ),
    }),
    route('revokeShare', 'DELETE /:shareId', {
      summary: 'Revoke a share, and end the sessions of all visitors',
      description: 'URLs that were handed out before live on until they expire, 20 minutes at most.',
      replies: { 204: empty('It opens no more.') },
      ifMatch: true,
      handler: ({ params, command, expectedRevision }) =>
        finished(revokeShare(params, command, { expectedRevision })),
    }),
    route('getShareQrCode', 'GET /:shareId/qr', {
      summary: "The share's URL as a QR code",
      replies: { 200: typed('image/svg+xml', 'A picture.') },
      entityTag: true,
      handler: async ({ params: { projectId, shareId } }) => {
        const found = (await shares.find(projectId, shareId)) ?? missingShare();
        const picture = qrCodeSvg(found.resource.url);
        return { status: 200, prepared: { bytes: Buffer.from(picture), tag: contentTag(picture) } };
      },
    }),
  ];
}

/** Makes the share as the caller sees it: URL and token open it, so they are for callers who may share. */
function shownTo(
  caller: Grants['project']['caller'],
  project: ProjectAccess,
): (share: ShareResource) => ShownShare {
  const role = caller.kind === 'session' ? project.roleOf(caller.userId) : null;
  const mayShare =
    caller.kind === 'session'
      ? role !== null && roleAtLeast(role, 'editor')
      : caller.scopes.includes('share:write');
  return mayShare ? (share) => share : (share) => ({ ...share, token: null, url: null });
}

export function missingShare(): never {
  return missing('the share does not exist');
}

function nameOneThing(body: { asset_id?: unknown; asset_ids?: unknown; tag?: unknown }): void {
  if ([body.asset_id, body.asset_ids, body.tag].filter((one) => one !== undefined).length !== 1)
    invalid('asset_id', 'is missing: give it, asset_ids or tag', 'missing');
}

interface End {
  readonly expires_at?: string | null | undefined;
  readonly expires_in?: keyof typeof shareLives | undefined;
}

/** Returns what a body gives, with its end in `expires_at`. */
function withEnd<Body extends End>({ expires_at, expires_in, ...given }: Body, now: Date) {
  return definedOf({ ...given, expires_at: endOf({ expires_at, expires_in }, now) });
}

/** Returns the end that the body names; null: no end; undefined: it names none. */
function endOf({ expires_at, expires_in }: End, now: Date): string | null | undefined {
  if (expires_in !== undefined) {
    if (expires_at !== undefined)
      invalid('expires_in', 'takes the place of expires_at: leave one of them out', 'not_allowed');
    return new Date(now.getTime() + shareLives[expires_in]).toISOString();
  }
  if (typeof expires_at !== 'string') return expires_at;
  const end = new Date(expires_at).toISOString();
  // Events store times with four digits of the year; an offset may lead beyond them.
  return end.startsWith('+') ? invalid('expires_at', 'must be before the year 10000', 'too_large') : end;
}
