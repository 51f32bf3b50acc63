import { z } from 'zod';
import type { Readers } from '../../../projections/readers.js';
import type { Commands } from '../../areas/commands.js';
import { makeAdminNodeRoutes } from '../../areas/nodes/routes/admin-nodes.js';
import { makeOrderPaymentRoutes } from '../../areas/payments/routes/order-payments.js';
import { makePaymentRoutes } from '../../areas/payments/routes/payments.js';
import { entitlement } from '../../areas/projects/domain/project/events.js';
import { noQuery } from '../../http/route-spec.js';
import type { Route } from '../../http/route.js';
import type { WebhookAdmin } from '../../webhooks/webhook-admin.js';
import { makeAccountOperations, makeKeyOperations } from './account-operations.js';
import { makeAuditOperations } from './audit-operations.js';
import { changing, reading } from './operator-route.js';
import { makeProjectionOperations } from './projection-operations.js';
import { paymentProvider } from '../../areas/payments/domain/payment.js';

const failedOf = z.strictObject({ endpoint: z.string(), limit: z.coerce.number().int().min(1).max(1_000) });
const replay = z.strictObject({
  endpoint: z.string(),
  from: z.iso.datetime({ offset: true }).optional(),
  resource: z.string().min(1).max(200).optional(),
  failed: z.boolean(),
});

/** Makes the routes on outgoing events (docs/webhooks.md#operators). */
function makeWebhookOperations(admin: WebhookAdmin): readonly Route[] {
  return [
    reading('webhooks list', noQuery, async () => ({ items: await admin.list() })),
    reading('webhooks failed', failedOf, async ({ endpoint, limit }) => ({
      items: await admin.failed(endpoint, limit),
    })),
    changing('webhooks replay', replay, ({ from, resource = null, ...request }) =>
      admin.replay({ ...request, resource, from: from === undefined ? null : new Date(from) }),
    ),
  ];
}

const period = z.strictObject({
  provider: paymentProvider,
  from: z.iso.datetime(),
  to: z.iso.datetime().optional(),
  after: z
    .string()
    .regex(/^[\x21-\x7e]{1,1024}$/)
    .optional(),
});

/** Makes the route that asks a platform for what its callbacks did not report (docs/payments/resolving.md#see-and-decide). */
function makeReconcileOperations({
  reconcilePayments,
}: Pick<Commands, 'reconcilePayments'>): readonly Route[] {
  return [
    changing('payments reconcile', period, ({ provider, from, to, after = null }, context) =>
      reconcilePayments(
        { provider, from: new Date(from), to: to === undefined ? context.time : new Date(to), after },
        context,
      ),
    ),
  ];
}

const projectEntitlement = z.strictObject({ project_id: z.uuid().toLowerCase(), entitlement });

/** What the routes of operators need. */
type OperatorServices = Parameters<typeof makeAccountOperations>[0] &
  Parameters<typeof makeAuditOperations>[0] &
  Parameters<typeof makeKeyOperations>[0] &
  Parameters<typeof makeProjectionOperations>[0] & {
    readonly commands: Commands;
    readonly readers: Readers;
    readonly webhooks: { readonly admin: WebhookAdmin };
  };

/**
 * Makes the routes that the socket of operators serves: the service's own routes of operators, and those below `/operator`,
 * which no other listener serves and no document publishes.
 * @param status returns the report of `src/observing/components.ts`
 */
export function makeOperatorRoutes(services: OperatorServices, status: () => unknown): readonly Route[] {
  const { commands, readers } = services;
  const published = [
    ...makeAdminNodeRoutes({ ...commands, ...readers }),
    ...makePaymentRoutes({ ...commands, ...readers }),
    ...makeOrderPaymentRoutes(commands),
  ];
  return [
    ...published.filter(({ access }) => access.kind === 'operator'),
    reading('status', noQuery, status),
    changing('project grant', projectEntitlement, async (input, context) => {
      await commands.grantEntitlement(byOperator(input), context);
      return input;
    }),
    changing('project revoke', projectEntitlement, async (input, context) => ({
      ...input,
      held_by: await commands.revokeEntitlement(byOperator(input), context),
    })),
    ...makeProjectionOperations(services),
    ...makeAccountOperations(services),
    ...makeReconcileOperations(commands),
    ...makeKeyOperations(services),
    ...makeAuditOperations(services),
    ...makeWebhookOperations(services.webhooks.admin),
  ];
}

function byOperator({ project_id: projectId, entitlement: granted }: z.output<typeof projectEntitlement>) {
  return { projectId, entitlement: granted, source: 'operator' } as const;
}
