import { z } from 'zod';
import type { Route } from '../../http/route.js';
import { noQuery } from '../../http/route-spec.js';
import type { WebhookAdmin } from '../../webhooks/webhook-admin.js';
import { changing, reading } from './operator-route.js';

const failedOf = z.strictObject({ endpoint: z.string(), limit: z.coerce.number().int().min(1).max(1_000) });
const replay = z.strictObject({
  endpoint: z.string(),
  from: z.iso.datetime({ offset: true }).optional(),
  resource: z.string().min(1).max(200).optional(),
  failed: z.boolean(),
});

/** Makes the routes on outgoing events (docs/webhooks.md#operators). */
export function makeWebhookOperations(admin: WebhookAdmin): readonly Route[] {
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
