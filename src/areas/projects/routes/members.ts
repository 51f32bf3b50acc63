import { namedObject } from '../../../validation/fields.js';
import type { ProjectDeps } from '../deps.js';
import type { ProjectCommands } from '../commands/index.js';
import { z } from 'zod';
import { role, roleAtLeast } from '../domain/role.js';
import { actingOf, refuseKey } from '../../../http/access/authenticate.js';
import { pageOf, pageQuery, readPage } from '../../../../projections/paging.js';
import { memberResource } from '../../../../projections/projects/members/reader.js';
import { type Route, empty, finished, json, ok, routesOf } from '../../../http/route.js';
import { emailField } from '../../accounts/routes/auth-fields.js';
import { projectParams } from './projects.js';

const memberAddition = namedObject('MemberAddition', { email: emailField, role });
const memberChange = namedObject('MemberChange', { role });

const memberParams = projectParams.extend({ memberId: z.uuid().toLowerCase() });
const path = '/api/v1/projects/:projectId/members';

const memberQuery = pageQuery.extend({
  role: role.optional(),
  status: memberResource.shape.status.optional(),
});

/** Makes the routes of projects' members (src/areas/projects/README.md#members). */
export function makeMemberRoutes(deps: ProjectCommands & Pick<ProjectDeps, 'members'>): readonly Route[] {
  const { addMember, hasAdditionEnded, changeMemberRole, removeMember, members } = deps;
  const route = routesOf({ tag: 'Members', path, params: projectParams });
  return [
    route('listMembers', 'GET', {
      summary: "A project's members, and whom it has invited",
      description:
        'Every member sees who the others are, by nickname and role. E-mail addresses are shown to admins and owners only; for all others, platform auditors included, `email` is null.',
      request: { query: memberQuery },
      replies: { 200: json('A page of members.', pageOf(memberResource)) },
      handler: async ({ query: { role, status, ...query }, caller, project, command: { time } }) => {
        const held = project.roleOf(refuseKey(caller).userId);
        const view = {
          withAddresses: held !== null && roleAtLeast(held, 'admin'),
          now: time,
          filter: { role, status },
        };
        return ok(await readPage(query, (page) => members.list(project, page, view)));
      },
    }),
    route('addMember', 'POST', {
      summary: 'Add a member by e-mail address, or invite them',
      description:
        'An account that has proved this address is a member at once (`active`) and gets a mail. Any other address is invited by mail (`invited`), and its account is a member once it has proved the address. The role `owner` is only offered (`offered`): the person accepts it at `/api/v1/auth/invitations` within 30 days. Owners add any role, admins editors and viewers. Where mail is configured, the caller has proved an address (403 `email_not_verified`). Limits (429) count by project, user and address.',
      request: { body: memberAddition },
      replies: { 201: json('The member, or the invitation.', memberResource) },
      errors: ['conflict', 'email_not_verified', 'mail_not_configured', 'too_many_attempts'],
      idempotent: true,
      isGone: (made, { params, time }) => hasAdditionEnded({ ...params, ...made }, time),
      guards: ({ body }) => (body.role === 'owner' ? 'change_owners' : null),
      handler: async ({ params: { projectId }, body, caller, command }) => {
        return { status: 201, body: await addMember({ projectId, ...actingOf(caller), ...body }, command) };
      },
    }),
    route('changeMember', 'PATCH /:memberId', {
      summary: "Change a member's role, or that of an invitation",
      description:
        'Owners change every member, admins editors and viewers. The role `owner` is only offered (`offered`), as in `addMember`; another role withdraws the offer. The last owner and the owner to whom the project is billed keep the role. A member who is no admin any more loses the API keys and open invitations that they issued. A higher role causes a mail, which is limited like invitations (429).',
      request: { params: memberParams, body: memberChange },
      replies: { 200: json('The member.', memberResource) },
      errors: ['conflict', 'email_not_verified', 'too_many_attempts'],
      guards: ({ params: { memberId }, body, project }) =>
        body.role === 'owner' || project.roleOf(memberId) === 'owner' ? 'change_owners' : null,
      handler: async ({ params: { projectId, memberId }, body, caller, command }) =>
        ok(await changeMemberRole({ projectId, ...actingOf(caller), memberId, ...body }, command)),
    }),
    route('removeMember', 'DELETE /:memberId', {
      summary: 'Remove a member, leave, or withdraw an invitation or an offer',
      description:
        'Owners remove every member, admins editors and viewers, and each member leaves; the last owner stays, and the owner to whom the project is billed. The API keys and open invitations of the member end. With the id of an offer of ownership, an owner withdraws it.',
      request: { params: memberParams },
      replies: { 204: empty('They have no access any more.') },
      errors: ['conflict'],
      guards: ({ params: { memberId }, project }) =>
        project.roleOf(memberId) === 'owner' ? 'change_owners' : null,
      handler: ({ params: { projectId, memberId }, caller, command }) => {
        const { userId: actorId } = refuseKey(caller);
        return finished(removeMember({ projectId, actorId, memberId }, command));
      },
    }),
  ];
}
