import { namedObject } from '../../../validation/fields.js';
import type { ProjectCommands } from '../commands/index.js';
import { z } from 'zod';
import { projectResource } from '../../../../projections/projects/projects/reader.js';
import { actingOf } from '../../../http/access/authenticate.js';
import { type Route, current, empty, finished, json, routesOf } from '../../../http/route.js';
import { projectParams } from './projects.js';

const path = '/api/v1/projects/:projectId/billing-offer';
const billingOffer = namedObject('BillingOffer', {
  user_id: z
    .uuid()
    .toLowerCase()
    .describe('A member. With the id of the caller, the caller takes the billing at once.'),
});

/** Makes the routes that hand over the billing of a project (src/areas/projects/README.md#offers). */
export function makeBillingRoutes({ offerBilling, withdrawBillingOffer }: ProjectCommands): readonly Route[] {
  const route = routesOf({ tag: 'Projects', path, params: projectParams });
  return [
    route('offerBilling', 'PUT', {
      summary: 'Offer the billing of a project to another member, or take it',
      description:
        'The assets of a project use the capacity of one owner, `billed_to`, until the other member accepts at `/api/v1/auth/invitations` within 30 days. A member below owner becomes an owner by that too. An offer replaces an earlier one, and one to the present payer ends it.',
      request: { body: billingOffer },
      replies: { 200: json('The project.', projectResource) },
      errors: ['conflict', 'email_not_verified', 'too_many_attempts'],
      entityTag: true,
      handler: async ({ params: { projectId }, body: { user_id: userId }, caller, command }) =>
        current(await offerBilling({ projectId, ...actingOf(caller), userId }, command)),
    }),
    route('withdrawBillingOffer', 'DELETE', {
      summary: 'Withdraw the offer of the billing',
      replies: { 204: empty('No offer is open.') },
      handler: ({ params: { projectId }, command }) => finished(withdrawBillingOffer({ projectId }, command)),
    }),
  ];
}
