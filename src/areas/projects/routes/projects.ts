import { noParams } from '../../../http/route-spec.js';
import { nameField } from '../../../validation/zod-problems.js';
import { namedObject } from '../../../validation/fields.js';
import type { ProjectDeps } from '../deps.js';
import type { ProjectCommands } from '../commands/index.js';
import { z } from 'zod';
import { isAuditor } from '../../../http/access/access.js';
import { refuseKey } from '../../../http/access/authenticate.js';
import { creationQuery, pageOf, readCreationPage, searchText } from '../../../../projections/paging.js';
import { projectResource } from '../../../../projections/projects/projects/reader.js';
import { role } from '../domain/role.js';
import {
  type Route,
  created,
  current,
  empty,
  finished,
  json,
  ok,
  routesOf,
  missing,
} from '../../../http/route.js';

export const projectParams = z.object({ projectId: z.uuid().toLowerCase() });

const path = '/api/v1/projects';
const name = nameField('Summer campaign');
const projectCreation = namedObject('ProjectCreation', { name });
const projectChange = namedObject('ProjectChange', {
  name: name.optional(),
  require_2fa: z
    .boolean()
    .describe(
      'Whether members need a second factor for every call on the project. Owners who demand it need one.',
    )
    .optional(),
  accent_color: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour such as #0a7f5a')
    .nullable()
    .meta({
      description: 'The colour of the pages of its shares. Null: the colour of the service.',
      examples: ['#0a7f5a'],
    })
    .optional(),
  open_shares: z
    .boolean()
    .describe('Whether editors may make shares without a password. While it is false, no such share opens.')
    .optional(),
});

const projectQuery = creationQuery.extend({
  role: role.optional().describe('Only projects in which the caller has this role.'),
  q: searchText.optional(),
});

/** Makes the routes of projects (src/areas/projects/README.md#rules-of-a-project). */
export function makeProjectRoutes(deps: ProjectCommands & Pick<ProjectDeps, 'projects'>): readonly Route[] {
  const { createProject, changeProject, deleteProject, projects } = deps;
  const route = routesOf({ tag: 'Projects', path, params: projectParams });
  return [
    route('createProject', 'POST', {
      summary: 'Create a project that belongs to the caller',
      request: { params: noParams, body: projectCreation },
      replies: { 201: json('The project.', projectResource) },
      errors: ['project_limit_reached'],
      idempotent: true,
      // Only members see a project.
      isGone: async ({ id }, { caller }) =>
        ((await projects.access(id))?.roleOf(caller.userId) ?? null) === null,
      entityTag: true,
      handler: async ({ body: { name }, caller, command }) =>
        created(await createProject({ ownerId: caller.userId, name }, command), path),
    }),
    route('listProjects', 'GET', {
      summary: "The caller's projects, newest first",
      request: { params: noParams, query: projectQuery },
      replies: { 200: json('A page of projects.', pageOf(projectResource)) },
      handler: async ({ query: { role, q, ...query }, caller }) =>
        ok(await readCreationPage(query, (page) => projects.page(caller.userId, page, { role, q }))),
    }),
    route('getProject', 'GET /:projectId', {
      summary: 'One project',
      replies: { 200: json('The project.', projectResource) },
      entityTag: true,
      handler: async ({ caller, project }) => {
        const session = refuseKey(caller);
        const options = { asAuditor: isAuditor(session) };
        const found = await projects.present(project, session.userId, options);
        // The gate admits members and auditors only.
        return current(found ?? missing('the project does not exist'));
      },
    }),
    route('changeProject', 'PATCH /:projectId', {
      summary: 'Rename a project, or change its settings',
      request: { body: projectChange },
      replies: { 200: json('The project.', projectResource) },
      ifMatch: true,
      guards: ({ body }) => {
        if (body.require_2fa !== undefined) return body.require_2fa ? 'set_require_2fa' : 'unset_require_2fa';
        // It lets visitors in without a password.
        return body.open_shares === true ? 'allow_open_shares' : null;
      },
      handler: async ({ params: { projectId }, body, caller, command, expectedRevision }) => {
        const { userId: actorId } = refuseKey(caller);
        return current(
          await changeProject({ projectId, actorId, changes: body }, command, { expectedRevision }),
        );
      },
    }),
    route('deleteProject', 'DELETE /:projectId', {
      summary: 'Delete a project and all that belongs to it',
      replies: { 204: empty('The project is deleted.') },
      ifMatch: true,
      handler: ({ params: { projectId }, command, expectedRevision }) =>
        finished(deleteProject({ projectId }, command, { expectedRevision })),
    }),
  ];
}
