import { namedObject } from '../../../validation/fields.js';
import type { ProjectDeps } from '../deps.js';
import type { ProjectCommands } from '../commands/index.js';
import { checkKeyExpiry } from '../commands/api-keys.js';
import { z } from 'zod';
import { scope, scopes } from '../domain/role.js';
import { actingOf } from '../../../http/access/authenticate.js';
import { pageOf, pageQuery, readPage } from '../../../../projections/paging.js';
import { apiKeyResource } from '../../../../projections/projects/api-keys/reader.js';
import { invalid } from '../../../validation/field-problems.js';
import { ruled, nameField } from '../../../validation/zod-problems.js';
import { type Route, empty, finished, json, ok, routesOf } from '../../../http/route.js';
import { projectParams } from './projects.js';

const apiKeyIssue = namedObject('ApiKeyIssue', {
  name: nameField('Nightly export'),
  scopes: z.array(scope).min(1).max(scopes.length).check(ruled(eachOnce)).meta({ uniqueItems: true }),
  expires_at: z.iso
    .datetime({ offset: true })
    .describe('Within 365 days; 365 days from now when left out.')
    .optional(),
});

const issuedApiKey = apiKeyResource
  .extend({ key: z.string().describe('The key itself, for `X-API-Key`. It is never shown again.') })
  .meta({ id: 'IssuedApiKey' });

const keyQuery = pageQuery.extend({ expired: z.enum(['true', 'false']).optional() });
const keyParams = projectParams.extend({ keyId: z.uuid().toLowerCase() });
const path = '/api/v1/projects/:projectId/api-keys';

/** Makes the routes of projects' API keys (src/areas/projects/README.md#api-keys). */
export function makeApiKeyRoutes(
  deps: ProjectCommands & Pick<ProjectDeps, 'apiKeys' | 'projects'>,
): readonly Route[] {
  const { issueApiKey, revokeApiKey, apiKeys, projects } = deps;
  const route = routesOf({ tag: 'API keys', path, params: projectParams });
  return [
    route('listApiKeys', 'GET', {
      summary: "A project's API keys, newest first",
      description:
        'What each key may do and what it looks like, never the key. Expired ones are listed while there is room.',
      request: { query: keyQuery },
      replies: { 200: json('A page of keys.', pageOf(apiKeyResource)) },
      handler: async ({ project, query, command: { time: now } }) => {
        const expired = query.expired === undefined ? undefined : query.expired === 'true';
        return ok(await readPage(query, (page) => apiKeys.list(project, page, { expired, now })));
      },
    }),
    route('issueApiKey', 'POST', {
      summary: 'Issue an API key',
      description:
        'Only this reply shows the key. With an `Idempotency-Key`, a repetition gets the same reply for 24 hours. It is 409 where a crash lost the reply, and where the key was revoked since. Where mail is configured, the caller has proved an address (403 `email_not_verified`).',
      request: { body: apiKeyIssue },
      replies: { 201: json('The key.', issuedApiKey) },
      errors: ['conflict', 'email_not_verified'],
      idempotent: true,
      // The gate may have read the project before the first attempt issued the key.
      isGone: async ({ id }, { params: { projectId } }) => {
        const project = await projects.access(projectId);
        return project?.document.body.api_keys.some((key) => key.id === id) !== true;
      },
      check: ({ body, ...times }) => checkKeyExpiry(body, times),
      handler: async ({ params: { projectId }, body, caller, command }) => {
        const issue = { projectId, ...actingOf(caller), ...body };
        const { resource, key } = await issueApiKey(issue, command);
        return { status: 201, body: { ...resource, key } };
      },
    }),
    route('revokeApiKey', 'DELETE /:keyId', {
      summary: 'Revoke an API key',
      request: { params: keyParams },
      replies: { 204: empty('It is refused from now on.') },
      handler: ({ params: { projectId, keyId }, command }) =>
        finished(revokeApiKey({ projectId, keyId }, command)),
    }),
  ];
}

function eachOnce(given: readonly string[]): void {
  if (new Set(given).size === given.length) return;
  invalid('', 'must name at least one scope, and each once', 'repeated');
}
