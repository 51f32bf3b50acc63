import type { Handled } from '../../../src/event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../src/event-sourcing/ports/command-context.js';
import { streamName } from '../../../src/event-sourcing/ports/domain-event.js';
import { changeName } from '../../../src/event-sourcing/views/projection.js';
import type { Views } from '../../../src/event-sourcing/views/views.js';
import type { AssetEvent } from '../../../src/areas/assets/domain/asset/events.js';
import { projectsProjection } from '../../projects/projects/projection.js';
import type { UserAccess } from '../../accounts/users/reader.js';
import { capacityOf, usersProjection } from '../../accounts/users/projection.js';
import { usageTally } from './projection.js';

/** What the assets of projects use, and what their payers may use (src/areas/assets/README.md#capacity). @throws StoreUnavailable */
export type UsageReader = ReturnType<typeof makeUsageReader>;

/** More than the projects that a user may own or pay for. */
const billedMax = 200;

export function makeUsageReader({ views }: { readonly views: Views }) {
  const users = views.of(usersProjection);
  const projects = views.of(projectsProjection);
  const totals = views.totalsOf(usageTally);
  return {
    /** Sums the projects that are billed to the user, in bytes. It reads one small document a project, and no asset. */
    usedBytes: async (userId: string) => toNumber(await sumOf(userId)),
    /** See `ProjectUsage`. */
    ofProjects: async (projectIds: readonly string[]) => {
      const found = await totals.getMany(projectIds);
      return (projectId: string) => toNumber(found.get(projectId) ?? 0n);
    },
    /** Returns whether the project's payer uses at most their capacity. */
    hasRoom: async (projectId: string) => {
      const payer = (await projects.get(projectId))?.body.billed_to;
      return payer !== undefined && (await roomOf(payer, projectId)) >= 0;
    },
    roomOf,
    /** Adds what a command of this process appended, until the view contains it. */
    appended: (
      assetId: string,
      { events, position }: Pick<Handled<AssetEvent>, 'events' | 'position'>,
      { commandId: command_id }: Pick<CommandContext, 'commandId'>,
    ) => {
      if (position === null) return;
      const name = changeName(streamName(usageTally.category, assetId), { command_id });
      for (const event of events) {
        const change = usageTally.changeOf(event);
        if (change !== null) totals.appended({ ...change, name, position });
      }
    },
  };

  /**
   * Returns the bytes that the payer of a project may still use; below 0 where they use more than their capacity. The project
   * counts also where the view of projects does not show it yet.
   * @param known a user whom the request has read, perhaps the payer
   */
  async function roomOf(
    payerId: string,
    projectId: string,
    known?: Pick<UserAccess, 'document'>,
  ): Promise<number> {
    const payer = known?.document.id === payerId ? known.document : users.get(payerId);
    const [user, used] = await Promise.all([payer, sumOf(payerId, projectId)]);
    return Number(BigInt(user === null ? 0 : capacityOf(user.body)) - used);
  }

  /** @param also a project that counts too, where the view of projects does not show yet that it is billed to the user */
  async function sumOf(userId: string, also?: string): Promise<bigint> {
    const where = { field: 'billed_to', equals: userId };
    const { ids, sum } = await totals.sumSelected(projectsProjection, { where, limit: billedMax });
    if (also === undefined || ids.includes(also)) return sum;
    return sum + ((await totals.getMany([also])).get(also) ?? 0n);
  }
}

/** A larger number is not exact in JSON, and no capacity is larger. */
function toNumber(bytes: bigint): number {
  return Math.min(Math.max(0, Number(bytes)), Number.MAX_SAFE_INTEGER);
}
