import type { CommandContext, CommandHandler, HandleOptions } from '../event-sourcing/command-handler.js';
import type { Versioned } from '../event-sourcing/views.js';
import { assetAggregate } from '../domain/asset/asset.js';
import { assetNameMax } from '../domain/asset/description.js';
import { checkName } from '../domain/text.js';
import type { AssetReader, AssetResource } from '../../projections/assets/reader.js';
import type { AssetAddress, RequireAsset } from './asset-ownership.js';

type Options = Pick<HandleOptions, 'expectedRevision'>;

/** @throws CommandRejected asset_not_found, invalid_request; PreconditionFailed */
export type RenameAsset = (
  input: AssetAddress & { readonly name: string },
  context: CommandContext,
  options?: Options,
) => Promise<Versioned<AssetResource>>;

export function makeRenameAsset({
  handler,
  requireAsset,
  assets,
}: {
  readonly handler: CommandHandler;
  readonly requireAsset: RequireAsset;
  readonly assets: Pick<AssetReader, 'after'>;
}): RenameAsset {
  return async ({ projectId, assetId, name }, context, options) => {
    const rename = { type: 'Rename', name: checkName(name, 'name', assetNameMax) } as const;
    await requireAsset({ projectId, assetId });
    const target = { aggregate: assetAggregate, id: assetId };
    const { documents } = await handler.handle(target, rename, context, options);
    return assets.after(documents);
  };
}

/**
 * Removes an asset. Its objects stay in the bucket, which is not the service's.
 * @throws CommandRejected asset_not_found; PreconditionFailed
 */
export type RemoveAsset = (input: AssetAddress, context: CommandContext, options?: Options) => Promise<void>;

export function makeRemoveAsset({
  handler,
  requireAsset,
}: {
  readonly handler: CommandHandler;
  readonly requireAsset: RequireAsset;
}): RemoveAsset {
  return async (address, context, options) => {
    await requireAsset(address);
    const target = { aggregate: assetAggregate, id: address.assetId };
    await handler.handle(target, { type: 'Remove' }, context, options);
  };
}
