import type { Views } from '../../src/event-sourcing/views.js';
import { assetsProjection } from '../assets/projection.js';
import { projectsProjection } from '../projects/projection.js';
import { type UserDocument, usersProjection } from '../users/projection.js';

/** What users store, against what they were granted. @throws StoreUnavailable */
export interface UsageReader {
  /** Sizes of the assets in the projects that the user owns, alone or with others. */
  usedBytes(userId: string): Promise<number>;
  /** Whether one of the project's owners has not used more than their capacity. */
  hasRoom(projectId: string): Promise<boolean>;
}

/** Projects whose sums are asked for at once. */
const pageSize = 20;

export function makeUsageReader({ views }: { readonly views: Views }): UsageReader {
  const users = views.of(usersProjection);
  const projects = views.of(projectsProjection);
  const assets = views.of(assetsProjection);
  return {
    usedBytes,
    hasRoom: async (projectId) => {
      const owners = (await projects.get(projectId))?.body.members.filter(({ role }) => role === 'owner');
      for (const { user_id: userId } of owners ?? []) {
        const user = await users.get(userId);
        if (user !== null && (await usedBytes(userId)) <= capacityOf(user.body)) return true;
      }
      return false;
    },
  };

  async function usedBytes(userId: string): Promise<number> {
    const where = { field: 'members.user_id', equals: userId };
    let used = 0n;
    for (let from: { readonly after?: string } = {}; ;) {
      const page = await projects.find({ where, limit: pageSize, ...from });
      const owned = page.filter(({ body }) =>
        body.members.some(({ user_id, role }) => user_id === userId && role === 'owner'),
      );
      const sums = await Promise.all(owned.map(({ id }) => sizesIn(id)));
      used = sums.reduce((total, sum) => total + sum, used);
      const last = page.at(-1);
      // Beyond this a number of JSON is not exact, and no capacity is granted.
      if (last === undefined || page.length < pageSize) {
        return Math.min(Number(used), Number.MAX_SAFE_INTEGER);
      }
      from = { after: last.id };
    }
  }

  function sizesIn(projectId: string): Promise<bigint> {
    return assets.sum({ where: { field: 'project_id', equals: projectId }, field: 'size' });
  }
}

/** Bytes: what all sources grant together. */
export function capacityOf({ capacity }: Pick<UserDocument, 'capacity'>): number {
  return capacity.reduce((sum, { bytes }) => sum + bytes, 0);
}
