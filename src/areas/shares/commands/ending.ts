import type { ShareDeps } from '../deps.js';
import { on } from '../../../event-sourcing/effects/reaction.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { assetAggregate } from '../../assets/domain/asset/asset.js';
import { onDeletedProjects } from '../../projects/commands/projects.js';
import { projectAggregate } from '../../projects/domain/project/project.js';
import { everyId } from '../../shared/deps.js';
import { onceShown, type Shows } from '../../shared/once-shown.js';
import { type OpenShare, shareAggregate } from '../domain/share/share.js';

type Deps = Pick<ShareDeps, 'handler' | 'shares' | 'sealer'> & {
  /** Says whether the view of shares has reached the position. */
  readonly sharesShown: Shows;
};

/**
 * Makes the reactions that revoke the shares of deleted projects, and the shares of chosen assets that are all removed, and that
 * destroy the keys of revoked shares. Such a share can never open again, and the keys of its token and password would stay for ever
 * (src/areas/storages/README.md#deleted-projects). A share of a tag stays, because an asset may get the tag later.
 */
export function makeShareEndings({ handler, shares, sealer, sharesShown }: Deps) {
  const isDue = onceShown(sharesShown);
  return {
    /** The shares that the view shows: those before ProjectDeleted in the log. */
    revokeProjectShares: onDeletedProjects({
      name: 'revoke-project-shares',
      shows: sharesShown,
      run: async (projectId, context) => {
        for await (const shareId of everyId((page) => shares.ids({ projectId }, page)))
          await revoke(shareId, context);
      },
    }),
    revokeAssetShares: on(assetAggregate, ['AssetRemoved'], {
      name: 'revoke-asset-shares',
      isDue,
      run: async (assetId, context) => {
        for await (const shareId of everyId((page) => shares.ids({ assetId }, page))) {
          const { state } = await handler.load(shareAggregate, shareId);
          if (state.status === 'open' && (await hasNoAsset(state))) await revoke(shareId, context);
        }
      },
    }),
    /** Shares that come after ProjectDeleted or the last AssetRemoved in the log: their commands read both before that. */
    revokeLateShares: on(shareAggregate, ['ShareCreated'], {
      name: 'revoke-late-shares',
      isDue: () => Promise.resolve(true),
      run: async (shareId, context) => {
        const { state } = await handler.load(shareAggregate, shareId);
        if (state.status !== 'open') return;
        const { state: project } = await handler.load(projectAggregate, state.project_id);
        if (project.status === 'deleted' || (await hasNoAsset(state))) await revoke(shareId, context);
      },
    }),
    /** Before the view has the revocation, it lists a token that needs the key. */
    eraseShareKeys: on(shareAggregate, ['ShareRevoked'], {
      name: 'erase-share-keys',
      isDue,
      run: async (shareId) => {
        const { state } = await handler.load(shareAggregate, shareId);
        if (state.status !== 'revoked') return;
        await sealer.destroy({ kind: 'share', projectId: state.project_id, shareId });
      },
    }),
  };

  /** Of two assets that are removed at once, the reaction to the later AssetRemoved reads both as removed. */
  async function hasNoAsset({ tag, asset_ids }: OpenShare): Promise<boolean> {
    if (tag !== null) return false;
    const assets = await Promise.all(asset_ids.map((id) => handler.load(assetAggregate, id)));
    return assets.every(({ state }) => state.status === 'removed');
  }

  /** A repetition changes nothing. */
  async function revoke(shareId: string, context: CommandContext): Promise<void> {
    await handler.handle(shareAggregate.at(shareId), { type: 'RevokeOrphaned' }, context);
  }
}
