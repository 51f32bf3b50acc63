import type { Deps } from '../deps.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { assetAggregate } from '../../domain/asset/asset.js';
import { projectAggregate } from '../../domain/project/project.js';
import { shareAggregate } from '../../domain/share/share.js';
import { everyId } from '../shared/every-id.js';

/**
 * Revokes the shares of deleted projects and removed assets: they can never open again, and the keys of their tokens
 * and passwords would stay for ever (docs/design.md#deleted-projects). A repetition changes nothing.
 * @throws StoreUnavailable
 */
export interface RevokeOrphanedShares {
  /** Revokes the shares that the view shows of a deleted project: those before ProjectDeleted in the log. */
  ofProject(projectId: string, context: CommandContext): Promise<void>;
  /** Revokes the shares that the view shows of a removed asset: those before AssetRemoved in the log. */
  ofAsset(assetId: string, context: CommandContext): Promise<void>;
  /** Revokes a share if its project is deleted or its asset removed: one that comes later in the log. */
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
}: Pick<Deps, 'handler' | 'shares'>): RevokeOrphanedShares {
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
    const target = { aggregate: shareAggregate, id: shareId };
    await handler.handle(target, { type: 'RevokeOrphaned' }, context);
  }
}
