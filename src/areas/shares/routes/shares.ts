import type { ShareDeps } from '../deps.js';
import type { ShareCommands } from '../commands/index.js';
import { checkNewShare, type NewShare, shareLimits, shareRules } from '../commands/create-share.js';
import { invalid } from '../../../validation/invalid-request.js';
import { besideOthers, ruled } from '../../../validation/zod-problems.js';
import { z } from 'zod';
import type { ProjectAccess } from '../../../../projections/projects/projects/reader.js';
import type { Grants } from '../../../http/access/access.js';
import { contentTag } from '../../../http/replies/etag.js';
import { HttpError } from '../../../http/replies/http-error.js';
import { creationQuery, pageOf, readCreationPage } from '../../../../projections/paging.js';
import { qrCodeSvg } from './qr-code.js';
import { noContent } from '../../../http/replies/reply.js';
import { shareState } from '../../../../projections/shares/shares/reader.js';
import {
  type ShareResource,
  type ShownShare,
  shownShare,
} from '../../../../projections/shares/shares/resource.js';
import { roleAtLeast } from '../../projects/domain/role.js';
import { noBody, noQuery } from '../../../http/route-spec.js';
import { defineRoute, type Route } from '../../../http/route.js';
import { projectParams } from '../../projects/routes/projects.js';

const { frameAncestorsMax, sharedAssetsMax, shareLives, shareNoteMax, shareTitleMax } = shareLimits;

const password = z
  .string()
  .max(512)
  .meta({ minLength: 4, maxLength: 128, examples: ['open sesame'] });
const expiresAt = z.iso.datetime({ offset: true }).nullable().meta({ description: 'Null: never.' });
const maxUses = z
  .int()
  .min(1)
  .max(10_000)
  .nullable()
  .meta({ description: 'How often the password may be used. Null: any number.' });
const allowDownload = z.boolean().meta({
  description: 'Whether visitors are offered to save the media. A browser keeps what it shows.',
});

const shareQuery = creationQuery.extend({
  state: shareState.optional(),
  tag: z
    .string()
    .min(1)
    .max(50)
    .optional()
    .meta({ description: 'Only shares of this tag; capitals do not count.' }),
  asset_id: z
    .uuid()
    .toLowerCase()
    .optional()
    .meta({ description: 'Only shares of this asset, without those of a tag.' }),
});
const expiresIn = z.enum(['1h', '1d', '7d', '30d']).meta({
  id: 'ShareTerm',
  description: 'The end as a time from now, in place of `expires_at`: an hour, a day, 7 days or 30 days.',
});
const title = z.string().max(512).check(ruled(shareRules.title)).nullable().meta({
  maxLength: shareTitleMax,
  description: 'For visitors. Null: none.',
});
const note = z.string().max(8_192).check(ruled(shareRules.note)).nullable().meta({
  maxLength: shareNoteMax,
  description: 'For visitors. Null: none.',
});
const frameAncestors = z
  .array(z.string().max(300).check(ruled(shareRules.frameAncestor)))
  .max(frameAncestorsMax)
  .meta({
    description: 'The origins whose pages may show the share in a frame.',
  });
const notifySharer = z.boolean().meta({
  description: 'Whether the sharer gets a mail at the first opening.',
});
const showSender = z.boolean().meta({
  description:
    'Whether visitors see the nickname of the sharer after the password. They never see the address.',
});
const openWithout = {
  description: 'Null: the share opens without a password. The project must allow it (`open_shares`).',
} as const;
const assetIds = z
  .array(z.uuid().toLowerCase())
  .min(1)
  .max(sharedAssetsMax)
  .meta({ description: 'Several assets, in the order in which visitors see them, in place of `asset_id`.' });

const sharedTag = z.string().max(512).check(ruled(shareRules.tag)).meta({
  minLength: 1,
  maxLength: 50,
  description:
    'In place of `asset_id`: the newest 50 assets that have the tag when the share is opened. Capitals do not count.',
});

const terms = {
  expires_at: expiresAt.optional(),
  expires_in: expiresIn.optional(),
  max_uses: maxUses.optional(),
  title: title.optional(),
  note: note.optional(),
  frame_ancestors: frameAncestors.optional(),
};

const shareCreation = z
  .strictObject({
    asset_id: z.uuid().toLowerCase().optional(),
    asset_ids: assetIds.optional(),
    tag: sharedTag.optional(),
    password: password.check(ruled(shareRules.password)).nullable().meta(openWithout),
    ...terms,
    allow_download: allowDownload.default(true),
    notify_sharer: notifySharer.default(true),
    show_sender: showSender.default(false),
  })
  .meta({ id: 'ShareCreation' });

const shareChange = z
  .strictObject({
    password: password.nullable().meta(openWithout).optional(),
    ...terms,
    allow_download: allowDownload.optional(),
    notify_sharer: notifySharer.optional(),
    show_sender: showSender.optional(),
  })
  // A share that does not exist is 404 before the rules of its password.
  .check(besideOthers(({ password: text }) => typeof text === 'string' && shareRules.passwordField(text)))
  .meta({ id: 'ShareChange' });

export const shareParams = projectParams.extend({ shareId: z.uuid().toLowerCase() });
const path = '/api/v1/projects/:projectId/shares';
export const sharePath = `${path}/:shareId`;
const common = { tag: 'Shares', entityTag: true } as const;

/** Makes the routes by which members manage shares (src/areas/shares/README.md#rules-of-a-share). */
export function makeShareRoutes({
  createShare,
  changeShare,
  revokeShare,
  shares,
}: Pick<ShareCommands, 'createShare' | 'changeShare' | 'revokeShare'> &
  Pick<ShareDeps, 'shares'>): readonly Route[] {
  return [
    defineRoute({
      ...common,
      method: 'POST',
      path,
      name: 'createShare',
      summary: 'Share assets behind a password',
      description: 'Exactly one of `asset_id`, `asset_ids` and `tag` says what is shared.',
      request: { params: projectParams, query: noQuery, body: shareCreation },
      replies: { 201: { description: 'The share, with the URL to pass on.', schema: shownShare } },
      errors: ['not_found', 'conflict', 'too_many_attempts'],
      idempotent: true,
      isGone: async ({ id }, { params: { projectId } }) => (await shares.find(projectId, id)) === null,
      check: ({ body, earliest }) => {
        checkNewShare(newShareOf(body, earliest), earliest);
      },
      cacheControl: 'no-store',
      handler: async ({ params: { projectId }, body, caller, command }) => {
        const input = {
          projectId,
          ...newShareOf(body, command.time),
          maxUses: body.max_uses ?? null,
          allowDownload: body.allow_download,
          notifySharer: body.notify_sharer,
          showSender: body.show_sender,
          createdBy: caller.kind === 'session' ? caller.userId : null,
        };
        const { resource, revision } = await createShare(input, command);
        const location = `/api/v1/projects/${projectId}/shares/${resource.id}`;
        return { status: 201, body: resource, revision, location };
      },
    }),
    defineRoute({
      method: 'GET',
      path,
      name: 'listShares',
      tag: 'Shares',
      summary: "A project's shares, newest first",
      description: 'Those that have expired or are used up are listed, those that were revoked are not.',
      request: { params: projectParams, query: shareQuery, body: noBody },
      replies: { 200: { description: 'A page of shares.', schema: pageOf(shownShare) } },
      handler: async ({ params: { projectId }, query, caller, project, command: { time: now } }) => {
        const { asset_id: assetId, tag, state, ...list } = query;
        const filter = { assetId, tag, state, now };
        const body = await readCreationPage(list, (page) => shares.page(projectId, page, filter));
        return { status: 200, body: { ...body, items: body.items.map(shownTo(caller, project)) } };
      },
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: sharePath,
      name: 'getShare',
      summary: 'One share',
      request: { params: shareParams, query: noQuery, body: noBody },
      replies: { 200: { description: 'The share.', schema: shownShare } },
      handler: async ({ params: { projectId, shareId }, caller, project }) => {
        const found = await shares.find(projectId, shareId);
        if (found === null) throw missingShare();
        return { status: 200, body: shownTo(caller, project)(found.resource), revision: found.revision };
      },
    }),
    defineRoute({
      ...common,
      method: 'PATCH',
      path: sharePath,
      name: 'changeShare',
      summary: 'Change a share',
      description: 'Another password, or none, ends the sessions of all visitors at once.',
      request: { params: shareParams, query: noQuery, body: shareChange },
      replies: { 200: { description: 'The share as it is now.', schema: shownShare } },
      errors: ['conflict', 'too_many_attempts'],
      ifMatch: true,
      handler: async ({ params, body, command, expectedRevision }) => {
        const changes = {
          password: body.password,
          expiresAt: endOf(body, command.time),
          maxUses: body.max_uses,
          allowDownload: body.allow_download,
          title: body.title,
          note: body.note,
          frameAncestors: body.frame_ancestors,
          notifySharer: body.notify_sharer,
          showSender: body.show_sender,
        };
        const input = { ...params, changes };
        const { resource, revision } = await changeShare(input, command, { expectedRevision });
        return { status: 200, body: resource, revision };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: sharePath,
      name: 'revokeShare',
      tag: 'Shares',
      summary: 'Revoke a share, and end the sessions of all visitors',
      description: 'URLs that were handed out before live on until they expire, 20 minutes at most.',
      request: { params: shareParams, query: noQuery, body: noBody },
      replies: { 204: { description: 'It opens no more.', schema: noContent } },
      ifMatch: true,
      handler: async ({ params, command, expectedRevision }) => {
        await revokeShare(params, command, { expectedRevision });
        return { status: 204, body: undefined };
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${sharePath}/qr`,
      name: 'getShareQrCode',
      tag: 'Shares',
      summary: "The share's URL as a QR code",
      request: { params: shareParams, query: noQuery, body: noBody },
      replies: { 200: { description: 'A picture.', schema: z.string(), mediaType: 'image/svg+xml' } },
      cacheControl: 'no-store',
      entityTag: true,
      handler: async ({ params: { projectId, shareId } }) => {
        const found = await shares.find(projectId, shareId);
        if (found === null) throw missingShare();
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

export function missingShare(): HttpError {
  return new HttpError('not_found', 'the share does not exist');
}

function newShareOf(body: z.output<typeof shareCreation>, now: Date): NewShare {
  const { asset_id, asset_ids, tag, password, title = null, note = null, frame_ancestors = [] } = body;
  if ([asset_id, asset_ids, tag].filter((one) => one !== undefined).length !== 1) {
    invalid('asset_id', 'is missing: give it, asset_ids or tag', 'missing');
  }
  return {
    assetIds: asset_ids ?? (asset_id === undefined ? [] : [asset_id]),
    tag: tag ?? null,
    ...{ password, expiresAt: endOf(body, now) ?? null, title, note, frameAncestors: frame_ancestors },
  };
}

/** Returns the end that the body names; null: no end; undefined: it names none. */
function endOf(
  { expires_at, expires_in }: Pick<z.output<typeof shareChange>, 'expires_at' | 'expires_in'>,
  now: Date,
): Date | null | undefined {
  if (expires_in !== undefined) {
    if (expires_at !== undefined)
      invalid('expires_in', 'takes the place of expires_at: leave one of them out', 'not_allowed');
    return new Date(now.getTime() + shareLives[expires_in]);
  }
  return typeof expires_at === 'string' ? new Date(expires_at) : expires_at;
}
