import type { Views } from '../../src/event-sourcing/views/views.js';
import { assetsProjection } from '../assets/projection.js';
import { projectsProjection } from '../projects/projection.js';
import { type UserDocument, usersProjection } from '../users/projection.js';

/** Compares the bytes that users store with their capacity. @throws StoreUnavailable */
export interface UsageReader {
  /** Sums the sizes of the assets in all projects that the user owns, alone or with others. */
  usedBytes(userId: string): Promise<number>;
  /** Returns whether an owner of the project uses at most their capacity. */
  hasRoom(projectId: string): Promise<boolean>;
}

export function makeUsageReader({ views }: { readonly views: Views }): UsageReader {
  const users = views.of(usersProjection);
  const projects = views.of(projectsProjection);
  const assets = views.of(assetsProjection);
  return {
    usedBytes,
    hasRoom: async (projectId) => {
      const members = (await projects.get(projectId))?.body.members ?? [];
      const owners = members.filter(({ role }) => role === 'owner');
      // A project mostly has one owner, and one with room is enough, so the sums are read in a row.
      for (const { id, body: user } of await users.getMany(owners.map(({ user_id }) => user_id))) {
        if ((await usedBytes(id)) <= capacityOf(user)) return true;
      }
      return false;
    },
  };

  async function usedBytes(userId: string): Promise<number> {
    const used = await assets.sum({
      by: 'project_id',
      field: 'size',
      owners: {
        view: projectsProjection,
        list: 'members',
        indexed: { field: 'user_id', equals: userId },
        and: { field: 'role', equals: 'owner' },
      },
    });
    // A larger number is not exact in JSON, and no grant is larger.
    return Math.min(Number(used), Number.MAX_SAFE_INTEGER);
  }
}

/** Returns the sum of all grants in bytes. */
export function capacityOf({ capacity }: Pick<UserDocument, 'capacity'>): number {
  return capacity.reduce((sum, { bytes }) => sum + bytes, 0);
}
