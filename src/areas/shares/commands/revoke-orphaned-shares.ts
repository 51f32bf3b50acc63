import type { ShareDeps } from '../deps.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { assetAggregate } from '../../assets/domain/asset/asset.js';
import { projectAggregate } from '../../projects/domain/project/project.js';
import { type OpenShare, shareAggregate } from '../domain/share/share.js';
import { everyId } from '../../shared/every-id.js';

/**
 * Revokes the shares of deleted projects, and the shares of chosen assets that are all removed: they can never open again,
 * and the keys of their tokens and passwords would stay for ever (src/areas/storages/README.md#deleted-projects). A share of a tag stays,
 * because an asset may get the tag later. A repetition changes nothing.
 * @throws StoreUnavailable
 */
export interface RevokeOrphanedShares {
  /** Revokes the shares that the view shows of a deleted project: those before ProjectDeleted in the log. */
  ofProject(projectId: string, context: CommandContext): Promise<void>;
  /** Revokes the shares that the view shows of a removed asset, unless they have another one. */
  ofAsset(assetId: string, context: CommandContext): Promise<void>;
  /** Revokes a share if its project is deleted or its last asset removed: one that comes later in the log. */
  ifOrphaned(shareId: string, context: CommandContext): Promise<void>;
}

export function makeRevokeOrphanedShares({
  handler,
  shares,
}: Pick<ShareDeps, 'handler' | 'shares'>): RevokeOrphanedShares {
  return {
    ofProject: async (projectId, context) => {
      for await (const shareId of everyId((page) => shares.ids({ projectId }, page))) {
        await revoke(shareId, context);
      }
    },
    ofAsset: async (assetId, context) => {
      for await (const shareId of everyId((page) => shares.ids({ assetId }, page))) {
        const { state } = await handler.load(shareAggregate, shareId);
        if (state.status === 'open' && (await hasNoAsset(state))) await revoke(shareId, context);
      }
    },
    ifOrphaned: async (shareId, context) => {
      const { state } = await handler.load(shareAggregate, shareId);
      if (state.status !== 'open') return;
      const { state: project } = await handler.load(projectAggregate, state.projectId);
      if (project.status === 'deleted' || (await hasNoAsset(state))) await revoke(shareId, context);
    },
  };

  /** Of two assets that are removed at once, the reaction to the later AssetRemoved reads both as removed. */
  async function hasNoAsset({ tag, assetIds }: OpenShare): Promise<boolean> {
    if (tag !== null) return false;
    const assets = await Promise.all(assetIds.map((id) => handler.load(assetAggregate, id)));
    return assets.every(({ state }) => state.status === 'removed');
  }

  async function revoke(shareId: string, context: CommandContext): Promise<void> {
    const target = { aggregate: shareAggregate, id: shareId };
    await handler.handle(target, { type: 'RevokeOrphaned' }, context);
  }
}
