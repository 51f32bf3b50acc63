import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { assetAggregate } from '../domain/asset/asset.js';
import { projectAggregate } from '../domain/project/project.js';
import { shareAggregate } from '../domain/share/share.js';
import type { ShareReader } from '../../projections/shares/reader.js';
import { everyId } from './every-id.js';

/**
 * Revokes shares whose project has been deleted or whose asset was removed: they can never open again, and the key of their
 * token and password would be kept for ever (DESIGN 3, Keys). One that stands before the end of what it needs in the log is
 * found by `ofProject` and `ofAsset`, one that comes after it by `ifOrphaned`. Once more changes nothing.
 * @throws StoreUnavailable
 */
export interface RevokeOrphanedShares {
  /** Those that the view shows of a project that has been deleted. */
  ofProject(projectId: string, context: CommandContext): Promise<void>;
  /** Those that the view shows of an asset that was removed. */
  ofAsset(assetId: string, context: CommandContext): Promise<void>;
  /** A share that was created, where its project has been deleted or its asset was removed. */
  ifOrphaned(share: OwnedShare, context: CommandContext): Promise<void>;
}

export interface OwnedShare {
  readonly shareId: string;
  readonly projectId: string;
  readonly assetId: string;
}

export function makeRevokeOrphanedShares({
  handler,
  shares,
}: {
  readonly handler: CommandHandler;
  readonly shares: Pick<ShareReader, 'ids'>;
}): RevokeOrphanedShares {
  return {
    ofProject: async (projectId, context) => {
      for await (const shareId of everyId((page) => shares.ids({ projectId }, page))) {
        await revoke(shareId, context);
      }
    },
    ofAsset: async (assetId, context) => {
      for await (const shareId of everyId((page) => shares.ids({ assetId }, page))) {
        await revoke(shareId, context);
      }
    },
    ifOrphaned: async ({ shareId, projectId, assetId }, context) => {
      const { state: project } = await handler.load(projectAggregate, projectId);
      const { state: asset } = await handler.load(assetAggregate, assetId);
      if (project.status === 'deleted' || asset.status === 'removed') await revoke(shareId, context);
    },
  };

  async function revoke(shareId: string, context: CommandContext): Promise<void> {
    await handler.handle({ aggregate: shareAggregate, id: shareId }, { type: 'Revoke' }, context);
  }
}
