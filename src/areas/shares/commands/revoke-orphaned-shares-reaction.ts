import type { RevokeOrphanedShares } from './revoke-orphaned-shares.js';
import { assetCodec, type AssetEvent, assetCategory } from '../../assets/domain/asset/events.js';
import { projectCodec, type ProjectEvent, projectCategory } from '../../projects/domain/project/events.js';
import { shareCodec, type ShareEvent, shareCategory } from '../domain/share/events.js';
import type { Position } from '../../../event-sourcing/ports/domain-event.js';
import type { Reaction } from '../../../event-sourcing/effects/reaction.js';
import { streamIdOf } from '../../../event-sourcing/ports/stream-name.js';

type ProjectDeleted = Extract<ProjectEvent, { type: 'ProjectDeleted' }>;
type AssetRemoved = Extract<AssetEvent, { type: 'AssetRemoved' }>;
type ShareCreated = Extract<ShareEvent, { type: 'ShareCreated' }>;

interface SharesView {
  /** Says whether the view of shares has reached the position. */
  readonly sharesShown: (position: Position) => boolean;
}

/** Revokes the shares of a deleted project. `erase-share-keys` then destroys their keys. */
export function makeRevokeProjectShares({
  revokeOrphanedShares,
  sharesShown,
}: SharesView & {
  readonly revokeOrphanedShares: Pick<RevokeOrphanedShares, 'ofProject'>;
}): Reaction<ProjectDeleted> {
  return {
    name: 'revoke-project-shares',
    category: projectCategory,
    codec: projectCodec,
    types: ['ProjectDeleted'],
    asks: ({ position }) => Promise.resolve(sharesShown(position) ? 'yes' : 'not-yet'),
    conclude: (event, context) => revokeOrphanedShares.ofProject(streamIdOf(event), context),
  };
}

/** Revokes the shares whose last asset is removed. */
export function makeRevokeAssetShares({
  revokeOrphanedShares,
  sharesShown,
}: SharesView & {
  readonly revokeOrphanedShares: Pick<RevokeOrphanedShares, 'ofAsset'>;
}): Reaction<AssetRemoved> {
  return {
    name: 'revoke-asset-shares',
    category: assetCategory,
    codec: assetCodec,
    types: ['AssetRemoved'],
    asks: ({ position }) => Promise.resolve(sharesShown(position) ? 'yes' : 'not-yet'),
    conclude: (event, context) => revokeOrphanedShares.ofAsset(streamIdOf(event), context),
  };
}

/**
 * Revokes a share whose ShareCreated comes after ProjectDeleted or the last AssetRemoved in the log: its command read
 * project and assets before that.
 */
export function makeRevokeLateShares({
  revokeOrphanedShares,
}: {
  readonly revokeOrphanedShares: Pick<RevokeOrphanedShares, 'ifOrphaned'>;
}): Reaction<ShareCreated> {
  return {
    name: 'revoke-late-shares',
    category: shareCategory,
    codec: shareCodec,
    types: ['ShareCreated'],
    // `ifOrphaned` itself reads whether project and assets exist.
    asks: () => Promise.resolve('yes'),
    conclude: (event, context) => revokeOrphanedShares.ifOrphaned(streamIdOf(event), context),
  };
}
