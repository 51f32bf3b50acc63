import type { Commands } from '../../commands/index.js';
import { checkNewShare } from '../../commands/shares/create-share.js';
import type { Readers } from '../../../projections/readers.js';
import { z } from 'zod';
import { HttpError } from '../http-error.js';
import { pageOf, pageQuery, readPage } from '../../../projections/paging.js';
import { noContent } from '../reply.js';
import { shareResource } from '../../../projections/shares/resource.js';
import { shareAccessResource } from '../../../projections/share-accesses/resource.js';
import { noBody, noQuery } from '../route-spec.js';
import { defineRoute, type Route } from '../route.js';
import { projectParams } from './projects.js';

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
  description: 'Whether visitors are offered to save the media. What a browser can show it can also keep.',
});

const shareCreation = z
  .strictObject({
    asset_id: z.uuid().toLowerCase(),
    password,
    expires_at: expiresAt.optional(),
    max_uses: maxUses.optional(),
    allow_download: allowDownload.default(true),
  })
  .meta({ id: 'ShareCreation' });

const shareChange = z
  .strictObject({
    password: password.optional(),
    expires_at: expiresAt.optional(),
    max_uses: maxUses.optional(),
    allow_download: allowDownload.optional(),
  })
  .meta({ id: 'ShareChange' });

const shareParams = projectParams.extend({ shareId: z.uuid().toLowerCase() });
const path = '/api/v1/projects/:projectId/shares';
const sharePath = `${path}/:shareId`;
const common = { tag: 'Shares', entityTag: true } as const;

/** Makes the routes by which members manage shares (docs/design.md#shares). */
export function makeShareRoutes({
  createShare,
  changeShare,
  revokeShare,
  shares,
  shareAccesses,
}: Pick<Commands, 'createShare' | 'changeShare' | 'revokeShare'> &
  Pick<Readers, 'shares' | 'shareAccesses'>): readonly Route[] {
  return [
    defineRoute({
      ...common,
      method: 'POST',
      path,
      name: 'createShare',
      summary: 'Share an asset behind a password',
      request: { params: projectParams, query: noQuery, body: shareCreation },
      replies: { 201: { description: 'The share, with the URL to pass on.', schema: shareResource } },
      errors: ['not_found', 'too_many_attempts'],
      idempotent: true,
      check: ({ body, earliest }) => {
        const expiresAt = dateOrNull(body.expires_at ?? null);
        checkNewShare({ password: body.password, expiresAt }, earliest);
      },
      cacheControl: 'no-store',
      handler: async ({ params: { projectId }, body, caller, command }) => {
        const input = {
          projectId,
          assetId: body.asset_id,
          password: body.password,
          expiresAt: dateOrNull(body.expires_at ?? null),
          maxUses: body.max_uses ?? null,
          allowDownload: body.allow_download,
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
      request: { params: projectParams, query: pageQuery, body: noBody },
      replies: { 200: { description: 'A page of shares.', schema: pageOf(shareResource) } },
      handler: async ({ params: { projectId }, query }) => ({
        status: 200,
        body: await readPage(query, async (page) =>
          (await shares.list(projectId, page)).map(({ resource }) => resource),
        ),
      }),
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: sharePath,
      name: 'getShare',
      summary: 'One share',
      request: { params: shareParams, query: noQuery, body: noBody },
      replies: { 200: { description: 'The share.', schema: shareResource } },
      handler: async ({ params: { projectId, shareId } }) => {
        const found = await shares.find(projectId, shareId);
        if (found === null) throw missing();
        return { status: 200, body: found.resource, revision: found.revision };
      },
    }),
    defineRoute({
      ...common,
      method: 'PATCH',
      path: sharePath,
      name: 'changeShare',
      summary: 'Change a share',
      description: 'Another password ends the sessions of all visitors at once.',
      request: { params: shareParams, query: noQuery, body: shareChange },
      replies: { 200: { description: 'The share as it is now.', schema: shareResource } },
      errors: ['too_many_attempts'],
      ifMatch: true,
      handler: async ({ params, body, command, expectedRevision }) => {
        const changes = {
          password: body.password,
          expiresAt: body.expires_at === undefined ? undefined : dateOrNull(body.expires_at),
          maxUses: body.max_uses,
          allowDownload: body.allow_download,
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
      path: `${sharePath}/accesses`,
      name: 'listShareAccesses',
      tag: 'Shares',
      summary: 'When a share was opened, newest first',
      description: 'Also of a share that was revoked, if it was ever opened.',
      request: { params: shareParams, query: pageQuery, body: noBody },
      replies: { 200: { description: 'A page of accesses.', schema: pageOf(shareAccessResource) } },
      handler: async ({ params, query }) => {
        const body = await readPage(query, (page) => shareAccesses.list(params, page));
        const { projectId, shareId } = params;
        if (body.items.length === 0 && (await shares.find(projectId, shareId)) === null) throw missing();
        return { status: 200, body };
      },
    }),
  ];
}

function missing(): HttpError {
  return new HttpError('not_found', 'the share does not exist');
}

function dateOrNull(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}
