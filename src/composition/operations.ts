import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { EntitlementInput } from '../commands/change-entitlement.js';
import { entitlement } from '../domain/project/events.js';
import { platformRole } from '../domain/user/events.js';
import { defineOperation, type Operation } from '../control/operations.js';
import type { CommandContext } from '../event-sourcing/command-handler.js';
import { CommandRejected } from '../event-sourcing/errors.js';
import { collectionName } from '../event-sourcing/projection.js';
import { requestRebuild } from '../event-sourcing/rebuild.js';
import { makeAccountOperations } from './account-operations.js';
import { makeKeyOperations } from './key-operations.js';
import { makePaymentOperations } from './payment-operations.js';
import type { Services } from './services.js';

const nothing = z.strictObject({});
const projectEntitlement = z.strictObject({ project_id: z.uuid().toLowerCase(), entitlement });
const platformRoleOf = z.strictObject({ email: z.string(), role: platformRole });
const nodeDescription = z.strictObject({
  name: z.string(),
  ip_address: z.string(),
  node_type: z.enum(['normal', 'high_defense']),
  lb_weight: z.int(),
  lb_enabled: z.boolean(),
  dnsprovider_record_id: z.string(),
  max_capacity_hint: z.int().nullable(),
  note: z.string(),
});
const viewName = z.strictObject({ name: z.string() });

/** What operators may ask for on the command line. */
export function makeOperations(services: Services): readonly Operation[] {
  const { commands, readers, generations, readModelStore, clock } = services;

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
    defineOperation('node add', nodeDescription, async (description) => {
      const { resource } = await commands.addNode(description, context());
      return resource;
    }),
    defineOperation('node list', nothing, async () => ({ items: await readers.nodes.list() })),
    defineOperation('projection list', nothing, async () => {
      const items = generations.projections.map(async (projection) => {
        const record = generations.record(projection);
        const collection = collectionName(projection, record.live);
        const checkpoint = await readModelStore.loadCheckpoint(collection);
        return { name: projection.name, collection, position: checkpoint?.position ?? null, ...record };
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
    ...makeAccountOperations(commands, context),
    ...makePaymentOperations(services, context),
    ...makeKeyOperations(services),
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
