import { z } from 'zod';
import type { ChangeShare, RevokeShare } from '../../commands/change-share.js';
import type { CreateShare } from '../../commands/create-share.js';
import type { ShareAccessReader } from '../../../projections/share-accesses/reader.js';
import type { ShareReader } from '../../../projections/shares/reader.js';
import { accessMatrix } from '../access-matrix.js';
import { HttpError } from '../http-error.js';
import { pageOf, pageQuery, readPage } from '../paging.js';
import { noContent } from '../reply.js';
import { share, shareAccess } from '../resources.js';
import { noBody, noQuery } from '../route-spec.js';
import { defineRoute } from '../route.js';
import type { Route } from '../route.js';
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

/** Shares, as members manage them: DESIGN 4.4. */
export function makeShareRoutes({
  createShare,
  changeShare,
  revokeShare,
  shares,
  shareAccesses,
}: {
  readonly createShare: CreateShare;
  readonly changeShare: ChangeShare;
  readonly revokeShare: RevokeShare;
  readonly shares: Pick<ShareReader, 'find' | 'list'>;
  readonly shareAccesses: ShareAccessReader;
}): readonly Route[] {
  return [
    defineRoute({
      ...common,
      method: 'POST',
      path,
      name: 'createShare',
      summary: 'Share an asset behind a password',
      access: accessMatrix.createShare,
      request: { params: projectParams, query: noQuery, body: shareCreation },
      replies: { 201: { description: 'The share, with the URL to pass on.', schema: share } },
      errors: ['not_found', 'too_many_attempts'],
      idempotent: true,
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
      access: accessMatrix.listShares,
      request: { params: projectParams, query: pageQuery, body: noBody },
      replies: { 200: { description: 'A page of shares.', schema: pageOf(share) } },
      errors: [],
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
      access: accessMatrix.getShare,
      request: { params: shareParams, query: noQuery, body: noBody },
      replies: { 200: { description: 'The share.', schema: share } },
      errors: [],
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
      access: accessMatrix.changeShare,
      request: { params: shareParams, query: noQuery, body: shareChange },
      replies: { 200: { description: 'The share as it is now.', schema: share } },
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
        const { resource, revision } = await changeShare(input, command, options(expectedRevision));
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
      access: accessMatrix.revokeShare,
      request: { params: shareParams, query: noQuery, body: noBody },
      replies: { 204: { description: 'It opens no more.', schema: noContent } },
      errors: [],
      ifMatch: true,
      handler: async ({ params, command, expectedRevision }) => {
        await revokeShare(params, command, options(expectedRevision));
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
      access: accessMatrix.listShareAccesses,
      request: { params: shareParams, query: pageQuery, body: noBody },
      replies: { 200: { description: 'A page of accesses.', schema: pageOf(shareAccess) } },
      errors: [],
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

function options(expectedRevision: bigint | undefined): { readonly expectedRevision?: bigint } {
  return expectedRevision === undefined ? {} : { expectedRevision };
}
