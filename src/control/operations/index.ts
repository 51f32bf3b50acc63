import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { EntitlementInput } from '../../commands/projects/change-entitlement.js';
import { entitlement } from '../../domain/project/events.js';
import { platformRole } from '../../domain/user/events.js';
import { defineOperation, type Operation } from '../operation.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { CommandRejected } from '../../event-sourcing/ports/errors.js';
import { viewPart } from '../../event-sourcing/sharing/assignment.js';
import type { Members } from '../../event-sourcing/sharing/members.js';
import { collectionName, viewVersion } from '../../event-sourcing/views/projection.js';
import { setApartStreams } from '../../event-sourcing/views/set-apart.js';
import { pruneViews } from '../../event-sourcing/views/prune-views.js';
import { requestRebuild } from '../../event-sourcing/views/rebuild.js';
import { makeAccountOperations } from './account-operations.js';
import { makeAuditOperations } from './audit-operations.js';
import { makeKeyOperations } from './key-operations.js';
import { makeNodeOperations } from './node-operations.js';
import { makePaymentOperations } from './payment-operations.js';
import { makeWebhookOperations } from './webhook-operations.js';
import type { Readers } from '../../../projections/readers.js';
import type { Commands } from '../../commands/index.js';
import type { Clock } from '../../event-sourcing/ports/clock.js';
import type { EventStore } from '../../event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../event-sourcing/ports/read-model-store.js';
import type { Generations } from '../../event-sourcing/views/generations.js';
import type { KeyRotation } from '../../keys/key-rotation.js';
import type { Sealer } from '../../keys/sealer.js';
import type { WebhookAdmin } from '../../webhooks/webhook-admin.js';

const nothing = z.strictObject({});
const projectEntitlement = z.strictObject({ project_id: z.uuid().toLowerCase(), entitlement });
const platformRoleOf = z.strictObject({ email: z.string(), role: platformRole });
const viewName = z.strictObject({ name: z.string() });

export function makeOperations(services: {
  readonly commands: Commands;
  readonly readers: Readers;
  readonly generations: Generations;
  readonly members: Pick<Members, 'live' | 'refresh'>;
  readonly eventStore: Pick<EventStore, 'head' | 'logId'>;
  readonly audit: Parameters<typeof makeAuditOperations>[0]['audit'];
  readonly webhooks: { readonly admin: WebhookAdmin };
  readonly readModelStore: ReadModelStore;
  readonly keyRotation: KeyRotation;
  readonly keysFollowed: { readonly follow: () => Promise<void> };
  readonly sealer: Pick<Sealer, 'rewrap'>;
  readonly clock: Pick<Clock, 'now'>;
}): readonly Operation[] {
  const { commands, generations, members, readModelStore, clock } = services;

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
    defineOperation('projection list', nothing, async () => {
      // The command line may run this without a service.
      await members.refresh();
      const items = generations.projections.map(async (projection) => {
        const record = generations.record(projection);
        const collection = collectionName(projection, record.live);
        const checkpoint = await readModelStore.loadCheckpoint(collection);
        const part = viewPart(viewVersion(projection));
        const feeders = members.live().filter(({ feeds }) => feeds.includes(part));
        const setApart = await setApartStreams(readModelStore, collection);
        return {
          name: projection.name,
          collection,
          position: checkpoint?.position ?? null,
          fed_by: feeders.map(({ id }) => id),
          set_apart: setApart.map(({ id, reason }) => ({ id, reason })),
          ...record,
        };
      });
      return { head: await services.eventStore.head(), items: await Promise.all(items) };
    }),
    defineOperation('projection rebuild', viewName, async ({ name }) => {
      const projection = generations.projections.find((candidate) => candidate.name === name);
      if (projection === undefined) {
        const names = generations.projections.map((candidate) => candidate.name).join(', ');
        throw new CommandRejected('unknown_view', `there is no view ${name}; there are ${names}`);
      }
      const generation = await requestRebuild(generations, projection, clock.now());
      if (generation === null) {
        throw new CommandRejected(
          'rebuild_under_way',
          `the view ${name} is being rebuilt, or was a moment ago; try again later`,
        );
      }
      return { name, building: collectionName(projection, generation) };
    }),
    defineOperation('projection prune', nothing, async () => {
      const { collections, records } = await pruneViews(services);
      return { dropped_collections: [...collections], dropped_records: [...records] };
    }),
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
