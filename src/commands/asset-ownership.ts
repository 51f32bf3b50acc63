import type { CommandHandler } from '../event-sourcing/command-handler.js';
import { assetAggregate, type AssetState } from '../domain/asset/asset.js';
import { rejectAsset } from '../domain/asset/rejections.js';

export interface AssetAddress {
  readonly projectId: string;
  readonly assetId: string;
}

export type ExistingAsset = Extract<AssetState, { status: 'existing' }>;

/**
 * Finds an asset in its project, by the log: another project's is one that does not exist.
 * @throws CommandRejected asset_not_found
 */
export type RequireAsset = (address: AssetAddress) => Promise<ExistingAsset>;

export function makeRequireAsset({
  handler,
}: {
  readonly handler: Pick<CommandHandler, 'load'>;
}): RequireAsset {
  return async ({ projectId, assetId }) => {
    const { state } = await handler.load(assetAggregate, assetId);
    if (state.status === 'existing' && state.project_id === projectId) return state;
    return rejectAsset('asset_not_found', 'the asset does not exist');
  };
}
