import { z } from 'zod';
import type { CreateProject } from '../../commands/create-project.js';
import type { ProjectReader } from '../../../projections/projects/reader.js';
import { accessMatrix } from '../access-matrix.js';
import { isAuditor } from '../access.js';
import { HttpError } from '../http-error.js';
import { pageOf, pageQuery, readPage } from '../paging.js';
import { project } from '../resources.js';
import { noBody, noParams, noQuery } from '../route-spec.js';
import { defineRoute } from '../route.js';
import type { Route } from '../route.js';

export const projectParams = z.object({ projectId: z.uuid().toLowerCase() });

const projectCreation = z
  .strictObject({
    name: z
      .string()
      .max(256)
      .meta({ minLength: 1, maxLength: 64, examples: ['Summer campaign'] }),
  })
  .meta({ id: 'ProjectCreation' });

/** Projects: DESIGN 4.2. */
export function makeProjectRoutes({
  createProject,
  projects,
}: {
  readonly createProject: CreateProject;
  readonly projects: Pick<ProjectReader, 'find' | 'list'>;
}): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/projects',
      name: 'createProject',
      tag: 'Projects',
      summary: 'Create a project that belongs to the caller',
      access: accessMatrix.createProject,
      request: { params: noParams, query: noQuery, body: projectCreation },
      replies: { 201: { description: 'The project.', schema: project } },
      errors: [],
      entityTag: true,
      handler: async ({ body: { name }, caller, command }) => {
        const { resource, revision } = await createProject({ ownerId: caller.userId, name }, command);
        return { status: 201, body: resource, revision, location: `/api/v1/projects/${resource.id}` };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/projects',
      name: 'listProjects',
      tag: 'Projects',
      summary: "The caller's projects, newest first",
      access: accessMatrix.listProjects,
      request: { params: noParams, query: pageQuery, body: noBody },
      replies: { 200: { description: 'A page of projects.', schema: pageOf(project) } },
      errors: [],
      handler: async ({ query, caller }) => ({
        status: 200,
        body: await readPage(query, async (page) =>
          (await projects.list(caller.userId, page)).map(({ resource }) => resource),
        ),
      }),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/projects/:projectId',
      name: 'getProject',
      tag: 'Projects',
      summary: 'One project',
      access: accessMatrix.getProject,
      request: { params: projectParams, query: noQuery, body: noBody },
      replies: { 200: { description: 'The project.', schema: project } },
      errors: [],
      entityTag: true,
      handler: async ({ params, caller }) => {
        const found =
          caller.kind === 'session'
            ? await projects.find(params.projectId, caller.userId, { asAuditor: isAuditor(caller) })
            : null;
        // Deleted, or left, since the gate let the request pass.
        if (found === null) throw new HttpError('not_found', 'the project does not exist');
        return { status: 200, body: found.resource, revision: found.revision };
      },
    }),
  ];
}
