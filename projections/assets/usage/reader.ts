import type { Clock } from '../../../src/kit/time/clock.js';
import { bytesOf, type PendingEntry, type Total } from '../../../src/event-sourcing/views/total.js';
import type { Totals } from '../../../src/event-sourcing/views/totals.js';
import type { Views } from '../../../src/event-sourcing/views/views.js';
import type { ProjectUsage } from '../../projects/projects/reader.js';
import { projectsProjection } from '../../projects/projects/projection.js';
import { capacityOf, usersProjection } from '../../accounts/users/projection.js';
import { usageTally } from './projection.js';

/** What the assets of projects use, and what their payers may use (src/areas/assets/README.md#capacity). @throws StoreUnavailable */
export interface UsageReader extends ProjectUsage {
  /** Sums the projects that are billed to the user, in bytes. It reads one small document a project, and no asset. */
  usedBytes(userId: string): Promise<number>;
  /** Returns whether the project's payer uses at most their capacity. */
  hasRoom(projectId: string): Promise<boolean>;
  /**
   * Returns the capacity of a user in bytes, and the totals of the projects billed to them, by project id. `projectId` is
   * one of them, also where the view of projects does not show it yet.
   */
  accountOf(
    userId: string,
    projectId: string,
  ): Promise<{ readonly capacity: number; readonly totals: ReadonlyMap<string, Total> }>;
  totalsOf(projectIds: readonly string[]): Promise<ReadonlyMap<string, Total>>;
  /** The announced changes of a project's total. */
  announce(...change: Parameters<Totals['announce']>): Promise<void>;
}

/** More than the projects that a user may own or pay for. */
const billedMax = 200;

export function makeUsageReader({
  views,
  clock,
}: {
  readonly views: Views;
  readonly clock: Clock;
}): UsageReader {
  const users = views.of(usersProjection);
  const projects = views.of(projectsProjection);
  const totals = views.totalsOf(usageTally);
  return {
    usedBytes,
    ofProjects: async (projectIds) => {
      const found = await totals.getMany(projectIds);
      const isAlive = aliveNow();
      return (projectId) => {
        const total = found.get(projectId);
        return total === undefined ? 0 : toNumber(bytesOf(total, isAlive));
      };
    },
    hasRoom: async (projectId) => {
      const payer = (await projects.get(projectId))?.body.billed_to;
      if (payer === undefined) return false;
      const [user, used] = await Promise.all([users.get(payer), usedBytes(payer)]);
      return user !== null && used <= capacityOf(user.body);
    },
    accountOf: async (userId, projectId) => {
      const [user, billed] = await Promise.all([users.get(userId), totalsOf(userId, projectId)]);
      return { capacity: user === null ? 0 : capacityOf(user.body), totals: billed };
    },
    totalsOf: (projectIds) => totals.getMany(projectIds),
    announce: (...change) => totals.announce(...change),
  };

  async function usedBytes(userId: string): Promise<number> {
    const isAlive = aliveNow();
    const sum = [...(await totalsOf(userId)).values()].reduce(
      (bytes, total) => bytes + bytesOf(total, isAlive),
      0n,
    );
    return toNumber(sum);
  }

  /** @param also a project that counts too, where the view of projects does not show yet that it is billed to the user */
  async function totalsOf(userId: string, also?: string): Promise<ReadonlyMap<string, Total>> {
    const where = { field: 'billed_to', equals: userId };
    const billed = await totals.getSelected(projectsProjection, { where, limit: billedMax });
    return also === undefined || billed.ids.includes(also)
      ? billed.totals
      : new Map([...billed.totals, ...(await totals.getMany([also]))]);
  }

  /** A command that announced a change has ended by `until`. Its event is in the log by then, or never comes. */
  function aliveNow(): (entry: PendingEntry) => boolean {
    const nowMs = clock.now().getTime();
    return ({ until }) => Date.parse(until) > nowMs;
  }
}

/** A larger number is not exact in JSON, and no capacity is larger. */
function toNumber(bytes: bigint): number {
  return Math.min(Math.max(0, Number(bytes)), Number.MAX_SAFE_INTEGER);
}
