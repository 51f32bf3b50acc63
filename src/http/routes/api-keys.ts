import { z } from 'zod';
import type { IssueApiKey } from '../../commands/issue-api-key.js';
import type { RevokeApiKey } from '../../commands/revoke-api-key.js';
import { scope, scopes } from '../../domain/scope.js';
import type { ApiKeyReader } from '../../../projections/api-keys/reader.js';
import { accessMatrix } from '../access-matrix.js';
import { refuseKey } from '../credentials.js';
import { pageOf, pageQuery, readPage } from '../paging.js';
import { noContent } from '../reply.js';
import { apiKey } from '../resources.js';
import { noBody, noQuery } from '../route-spec.js';
import { defineRoute } from '../route.js';
import type { Route } from '../route.js';
import { projectParams } from './projects.js';

const apiKeyIssue = z
  .strictObject({
    name: z
      .string()
      .max(256)
      .meta({ minLength: 1, maxLength: 64, examples: ['Nightly export'] }),
    scopes: z.array(scope).min(1).max(scopes.length).meta({ uniqueItems: true }),
    expires_at: z.iso
      .datetime({ offset: true })
      .meta({ description: 'Within 365 days; 365 days from now when left out.' })
      .optional(),
  })
  .meta({ id: 'ApiKeyIssue' });

const issuedApiKey = apiKey
  .extend({
    key: z.string().meta({ description: 'The key itself, for `X-API-Key`. It is never shown again.' }),
  })
  .meta({ id: 'IssuedApiKey' });

const keyParams = projectParams.extend({ keyId: z.uuid().toLowerCase() });
const path = '/api/v1/projects/:projectId/api-keys';

/** API keys of projects: DESIGN 4.2. */
export function makeApiKeyRoutes({
  issueApiKey,
  revokeApiKey,
  apiKeys,
}: {
  readonly issueApiKey: IssueApiKey;
  readonly revokeApiKey: RevokeApiKey;
  readonly apiKeys: Pick<ApiKeyReader, 'list'>;
}): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path,
      name: 'listApiKeys',
      tag: 'API keys',
      summary: "A project's API keys, newest first",
      description:
        'What each key may do and what it looks like, never the key. Expired ones are listed while there is room.',
      access: accessMatrix.listApiKeys,
      request: { params: projectParams, query: pageQuery, body: noBody },
      replies: { 200: { description: 'A page of keys.', schema: pageOf(apiKey) } },
      errors: [],
      handler: async ({ params: { projectId }, query }) => ({
        status: 200,
        body: await readPage(query, async (page) =>
          (await apiKeys.list(projectId, page)).map((key) => ({ ...key, scopes: [...key.scopes] })),
        ),
      }),
    }),
    defineRoute({
      method: 'POST',
      path,
      name: 'issueApiKey',
      tag: 'API keys',
      summary: 'Issue an API key',
      description: 'The reply is the only place where the key is ever shown.',
      access: accessMatrix.issueApiKey,
      request: { params: projectParams, query: noQuery, body: apiKeyIssue },
      replies: { 201: { description: 'The key.', schema: issuedApiKey } },
      errors: ['conflict'],
      cacheControl: 'no-store',
      handler: async ({ params: { projectId }, body: { expires_at, ...body }, caller, command }) => {
        const expiresAt = expires_at === undefined ? undefined : new Date(expires_at);
        const { userId: actorId } = refuseKey(caller);
        const { resource, key } = await issueApiKey({ projectId, actorId, ...body, expiresAt }, command);
        return { status: 201, body: { ...resource, scopes: [...resource.scopes], key } };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${path}/:keyId`,
      name: 'revokeApiKey',
      tag: 'API keys',
      summary: 'Revoke an API key',
      access: accessMatrix.revokeApiKey,
      request: { params: keyParams, query: noQuery, body: noBody },
      replies: { 204: { description: 'It is refused from now on.', schema: noContent } },
      errors: [],
      handler: async ({ params: { projectId, keyId }, command }) => {
        await revokeApiKey({ projectId, keyId }, command);
        return { status: 204, body: undefined };
      },
    }),
  ];
}
