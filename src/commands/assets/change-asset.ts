import type { Deps } from '../deps.js';
import type { HandleOptions } from '../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import type { Versioned } from '../../event-sourcing/views/views.js';
import { assetAggregate, existingAsset } from '../../domain/asset/asset.js';
import { bytesOfAsset } from '../../domain/asset/status.js';
import { assetNameMax } from '../../domain/asset/description.js';
import { checkName } from '../../domain/text.js';
import type { Capacity } from '../shared/capacity.js';
import type { AssetResource } from '../../../projections/assets/reader.js';

export interface AssetAddress {
  readonly projectId: string;
  readonly assetId: string;
}

type Options = Pick<HandleOptions, 'expectedRevision'>;

/** Renames an asset. @throws CommandRejected asset_not_found, invalid_request; PreconditionFailed */
export type RenameAsset = (
  input: AssetAddress & { readonly name: string },
  context: CommandContext,
  options?: Options,
) => Promise<Versioned<AssetResource>>;

export function makeRenameAsset({ handler, assets }: Pick<Deps, 'handler' | 'assets'>): RenameAsset {
  return async ({ projectId, assetId, name }, context, options) => {
    const rename = { type: 'Rename', projectId, name: checkName(name, 'name', assetNameMax) } as const;
    const target = { aggregate: assetAggregate, id: assetId };
    const { documents } = await handler.handle(target, rename, context, options);
    return assets.after(documents);
  };
}

/** Removes an asset; its objects stay in the bucket. @throws CommandRejected asset_not_found; PreconditionFailed */
export type RemoveAsset = (input: AssetAddress, context: CommandContext, options?: Options) => Promise<void>;

export function makeRemoveAsset({
  handler,
  capacity,
}: Pick<Deps, 'handler'> & { readonly capacity: Pick<Capacity, 'removing'> }): RemoveAsset {
  return async ({ projectId, assetId }, context, options) => {
    const target = { aggregate: assetAggregate, id: assetId };
    const { state } = await handler.load(assetAggregate, assetId);
    const bytes = bytesOfAsset(existingAsset(state, projectId));
    await capacity.removing({ projectId, assetId, bytes }, () =>
      handler.handle(target, { type: 'Remove', projectId }, context, options),
    );
  };
}
