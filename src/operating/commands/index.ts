import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { EntitlementInput } from '../../areas/projects/commands/change-entitlement.js';
import { entitlement } from '../../areas/projects/domain/project/events.js';
import { platformRole } from '../../areas/accounts/domain/user/events.js';
import { defineOperation, type Operation } from '../socket/operation.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import type { LeaseWatch } from '../../event-sourcing/feeding/consumers/lease.js';
import { makeAccountOperations } from './account-operations.js';
import { makeAuditOperations } from './audit-operations.js';
import { makeKeyOperations } from './key-operations.js';
import { makeNodeOperations } from './node-operations.js';
import { makeProjectionOperations } from './projection-operations.js';
import { makePaymentOperations } from './payment-operations.js';
import { makeWebhookOperations } from './webhook-operations.js';
import type { Readers } from '../../../projections/readers.js';
import type { Commands } from '../../areas/commands.js';
import type { Clock } from '../../kit/time/clock.js';
import type { EventStore } from '../../event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../event-sourcing/ports/read-model-store.js';
import type { Generations } from '../../event-sourcing/views/generations/generations.js';
import type { KeyRotation } from '../../keys/rings/key-rotation.js';
import type { Sealer } from '../../keys/sealing/sealer.js';
import type { WebhookAdmin } from '../../webhooks/webhook-admin.js';

const projectEntitlement = z.strictObject({ project_id: z.uuid().toLowerCase(), entitlement });
const platformRoleOf = z.strictObject({ email: z.string(), role: platformRole });

export function makeOperations(services: {
  readonly commands: Commands;
  readonly readers: Readers;
  readonly generations: Generations;
  readonly leases: { readonly watch: LeaseWatch };
  readonly eventStore: Pick<EventStore, 'head' | 'logId'>;
  readonly audit: Parameters<typeof makeAuditOperations>[0]['audit'];
  readonly webhooks: { readonly admin: WebhookAdmin };
  readonly readModelStore: ReadModelStore;
  readonly keyRotation: KeyRotation;
  readonly keysFollowed: { readonly follow: () => Promise<void> };
  readonly sealer: Pick<Sealer, 'rewrap'>;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
}): readonly Operation[] {
  const { commands, clock } = services;

  return [
    defineOperation('project grant', projectEntitlement, async (input) => {
      await commands.grantEntitlement(byOperator(input), context());
      return input;
    }),
    defineOperation('project revoke', projectEntitlement, async (input) => {
      const heldBy = await commands.revokeEntitlement(byOperator(input), context());
      return { ...input, held_by: [...heldBy] };
    }),
    defineOperation('platform-role grant', platformRoleOf, async ({ email, role }) => {
      const userId = await commands.grantPlatformRole({ email, role }, context());
      return { user_id: userId, role };
    }),
    defineOperation('platform-role revoke', platformRoleOf, async ({ email, role }) => {
      const userId = await commands.revokePlatformRole({ email, role }, context());
      return { user_id: userId, role };
    }),
    ...makeProjectionOperations(services),
    ...makeAccountOperations(services, context),
    ...makeNodeOperations(services, context),
    ...makePaymentOperations(services, context),
    ...makeKeyOperations(services),
    ...makeAuditOperations(services, context),
    ...makeWebhookOperations(services.webhooks.admin),
  ];

  function byOperator(input: z.output<typeof projectEntitlement>): EntitlementInput {
    return { projectId: input.project_id, entitlement: input.entitlement, source: 'operator' };
  }

  function context(): CommandContext {
    const commandId = randomUUID();
    return {
      commandId,
      causationId: commandId,
      correlationId: commandId,
      actor: 'operator',
      time: clock.now(),
    };
  }
}
