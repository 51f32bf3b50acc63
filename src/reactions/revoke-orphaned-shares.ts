import type { RevokeOrphanedShares } from '../commands/revoke-orphaned-shares.js';
import { assetCodec, type AssetEvent } from '../domain/asset/events.js';
import { assetCategory } from '../domain/asset/stream.js';
import { projectCodec, type ProjectEvent } from '../domain/project/events.js';
import { projectCategory } from '../domain/project/stream.js';
import { shareCodec, type ShareEvent } from '../domain/share/events.js';
import { shareCategory } from '../domain/share/stream.js';
import type { Position } from '../event-sourcing/domain-event.js';
import type { Reaction } from '../event-sourcing/reaction.js';
import { streamIdOf } from './stream-id.js';

type ProjectDeleted = Extract<ProjectEvent, { type: 'ProjectDeleted' }>;
type AssetRemoved = Extract<AssetEvent, { type: 'AssetRemoved' }>;
type ShareCreated = Extract<ShareEvent, { type: 'ShareCreated' }>;

interface ShownShares {
  /** Whether the view of shares shows the log up to there. */
  readonly sharesShown: (position: Position) => boolean;
}

/** Revokes the shares that a project had when it was deleted; their keys are then destroyed. */
export function makeRevokeProjectShares({
  revokeOrphanedShares,
  sharesShown,
}: ShownShares & {
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

/** Revokes the shares that an asset had when it was removed. */
export function makeRevokeAssetShares({
  revokeOrphanedShares,
  sharesShown,
}: ShownShares & {
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
 * Revokes shares that were created while their project was being deleted or their asset removed. One that comes after that
 * in the log was decided before, and finds it here.
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
    // The use case reads for itself whether project and asset are still there.
    asks: () => Promise.resolve('yes'),
    conclude: (event, context) => {
      const { project_id: projectId, asset_id: assetId } = event.data;
      return revokeOrphanedShares.ifOrphaned({ shareId: streamIdOf(event), projectId, assetId }, context);
    },
  };
}
