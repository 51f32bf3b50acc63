import { z } from 'zod';
import { defineOperation, type Operation } from '../socket/operation.js';
import type { WebhookAdmin } from '../../webhooks/webhook-admin.js';

const nothing = z.strictObject({});
const failedOf = z.strictObject({ endpoint: z.string(), limit: z.int().min(1).max(1_000) });
const replay = z.strictObject({
  endpoint: z.string(),
  from: z.iso.datetime({ offset: true }).nullable(),
  resource: z.string().min(1).max(200).nullable(),
  failed: z.boolean(),
});

/** Makes the operations on outgoing events (docs/webhooks.md). */
export function makeWebhookOperations(admin: WebhookAdmin): readonly Operation[] {
  return [
    defineOperation('webhooks list', nothing, async () => ({
      items: (await admin.list()).map((item) => ({ ...item })),
    })),
    defineOperation('webhooks failed', failedOf, async ({ endpoint, limit }) => ({
      items: [...(await admin.failed(endpoint, limit))],
    })),
    defineOperation('webhooks replay', replay, async ({ from, ...request }) => ({
      ...(await admin.replay({ ...request, from: from === null ? null : new Date(from) })),
    })),
  ];
}
