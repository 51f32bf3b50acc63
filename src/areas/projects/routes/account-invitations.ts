import type { ProjectDeps } from '../deps.js';
import type { ProjectCommands } from '../commands/index.js';
import { z } from 'zod';
import { invitationResource } from '../../../../projections/projects/invitations/reader.js';
import { pageOf, pageQuery, readPage } from '../../../../projections/paging.js';
import { projectResource } from '../../../../projections/projects/projects/reader.js';
import { noContent } from '../../../http/replies/reply.js';
import { wrap, wrapped } from '../../../http/resources.js';
import { noBody, noParams, noQuery } from '../../../http/route-spec.js';
import { defineRoute, type Route } from '../../../http/route.js';

const path = '/api/v1/auth/invitations';
const invitationParams = z.object({ invitationId: z.uuid().toLowerCase() });

/** Makes the routes of invitations and offers to the caller (src/areas/projects/README.md#offers). */
export function makeInvitationRoutes({
  invitations,
  acceptOffer,
  declineOffer,
}: Pick<ProjectCommands, 'acceptOffer' | 'declineOffer'> &
  Pick<ProjectDeps, 'invitations'>): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path,
      name: 'listInvitations',
      tag: 'Accounts',
      summary: 'Invitations and offers to the caller',
      description:
        'Invitations to the address of the caller, once it is proved, and offers to the caller, by project, the newest project first. An invitation with another role than `owner` needs no answer: the person who proves the address is a member soon after.',
      request: { params: noParams, query: pageQuery, body: noBody },
      replies: {
        200: { description: 'A page of invitations.', schema: wrapped(pageOf(invitationResource)) },
      },
      handler: async ({ query, caller: { userId: id, user }, command: { time } }) => {
        const { email_digest, email_verified } = user.document.body;
        const addressee = { id, email_digest: email_verified ? email_digest : null };
        const page = await readPage(
          query,
          (wanted) => invitations.list(addressee, wanted, time),
          ({ project }) => project.id,
        );
        return { status: 200, body: wrap(page) };
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/:invitationId/accept`,
      name: 'acceptInvitation',
      tag: 'Accounts',
      summary: 'Accept an invitation or an offer',
      description:
        'The caller becomes a member, an owner, or the one whose capacity the assets of the project use.',
      request: { params: invitationParams, query: noQuery, body: noBody },
      replies: { 200: { description: 'The project.', schema: wrapped(projectResource) } },
      errors: ['project_limit_reached'],
      handler: async ({ params: { invitationId }, caller: { userId }, command }) => ({
        status: 200,
        body: wrap(await acceptOffer({ userId, invitationId }, command)),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/:invitationId/decline`,
      name: 'declineInvitation',
      tag: 'Accounts',
      summary: 'Decline an invitation or an offer',
      request: { params: invitationParams, query: noQuery, body: noBody },
      replies: { 204: { description: 'It has ended.', schema: noContent } },
      handler: async ({ params: { invitationId }, caller: { userId }, command }) => {
        await declineOffer({ userId, invitationId }, command);
        return { status: 204, body: undefined };
      },
    }),
  ];
}
