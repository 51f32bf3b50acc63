import type { ProjectDeps } from '../deps.js';
import type { ProjectCommands } from '../commands/index.js';
import { z } from 'zod';
import { invitationResource } from '../../../../projections/projects/invitations/reader.js';
import { pageOf, pageQuery, readPage } from '../../../../projections/paging.js';
import { projectResource } from '../../../../projections/projects/projects/reader.js';
import { wrap, wrapped } from '../../../http/resources.js';
import { noParams } from '../../../http/route-spec.js';
import { type Route, empty, finished, json, ok, routesOf } from '../../../http/route.js';

const path = '/api/v1/auth/invitations';
const invitationParams = z.object({ invitationId: z.uuid().toLowerCase() });

/** Makes the routes of invitations and offers to the caller (src/areas/projects/README.md#offers). */
export function makeInvitationRoutes(
  deps: ProjectCommands & Pick<ProjectDeps, 'invitations'>,
): readonly Route[] {
  const { invitations, acceptOffer, declineOffer } = deps;
  const route = routesOf({ tag: 'Accounts', path, params: invitationParams });
  return [
    route('listInvitations', 'GET', {
      summary: 'Invitations and offers to the caller',
      description:
        'Invitations to the address of the caller, once it is proved, and offers to the caller, by project, the newest project first. An invitation with another role than `owner` needs no answer: the person who proves the address is a member soon after.',
      request: { params: noParams, query: pageQuery },
      replies: { 200: json('A page of invitations.', wrapped(pageOf(invitationResource))) },
      handler: async ({ query, caller: { userId: id, user }, command: { time } }) => {
        const { email_digest, email_verified } = user.document.body;
        const addressee = { id, email_digest: email_verified ? email_digest : null };
        const page = await readPage(
          query,
          (wanted) => invitations.list(addressee, wanted, time),
          ({ project }) => project.id,
        );
        return ok(wrap(page));
      },
    }),
    route('acceptInvitation', 'POST /:invitationId/accept', {
      summary: 'Accept an invitation or an offer',
      description:
        'The caller becomes a member, an owner, or the one whose capacity the assets of the project use.',
      replies: { 200: json('The project.', wrapped(projectResource)) },
      errors: ['project_limit_reached'],
      handler: async ({ params: { invitationId }, caller: { userId }, command }) =>
        ok(wrap(await acceptOffer({ userId, invitationId }, command))),
    }),
    route('declineInvitation', 'POST /:invitationId/decline', {
      summary: 'Decline an invitation or an offer',
      replies: { 204: empty('It has ended.') },
      handler: ({ params: { invitationId }, caller: { userId }, command }) =>
        finished(declineOffer({ userId, invitationId }, command)),
    }),
  ];
}
