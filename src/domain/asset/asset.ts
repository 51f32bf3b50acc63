import type { Aggregate } from '../../event-sourcing/deciding/decider.js';
import { assetCodec, type AssetDescription, type AssetEvent, assetCategory } from './events.js';
import { bytesOfAsset } from './status.js';
import { assetNotFound } from './rejections.js';

export type AssetState = { readonly status: 'absent' } | ExistingAsset | { readonly status: 'removed' };

export type ExistingAsset = { readonly status: 'existing' } & AssetDescription;

/** `projectId` is the project of the caller. */
export type AssetCommand =
  | { readonly type: 'Add'; readonly description: AssetDescription }
  | { readonly type: 'Rename'; readonly projectId: string; readonly name: string }
  | { readonly type: 'Remove'; readonly projectId: string };

const initialState: AssetState = { status: 'absent' };

function evolve(state: AssetState, event: AssetEvent): AssetState {
  switch (event.type) {
    case 'AssetAdded':
      return { status: 'existing', ...event.data };
    case 'AssetRenamed':
      return state.status === 'existing' ? { ...state, name: event.data.name } : state;
    case 'AssetRemoved':
      return { status: 'removed' };
  }
}

function decide(command: AssetCommand, state: AssetState): readonly AssetEvent[] {
  switch (command.type) {
    case 'Add': {
      // The id derives from the command, so an earlier attempt made the existing asset.
      if (state.status !== 'absent') return [];
      return [{ type: 'AssetAdded', data: command.description }];
    }
    case 'Rename':
      if (existingAsset(state, command.projectId).name === command.name) return [];
      return [{ type: 'AssetRenamed', data: { name: command.name } }];
    case 'Remove': {
      const asset = existingAsset(state, command.projectId);
      return [{ type: 'AssetRemoved', data: { project_id: asset.project_id, bytes: bytesOfAsset(asset) } }];
    }
  }
}

/** Returns the project's asset. @throws CommandRejected asset_not_found, also for an asset of another project */
export function existingAsset(state: AssetState, projectId: string): ExistingAsset {
  return state.status === 'existing' && state.project_id === projectId ? state : assetNotFound();
}

export const assetAggregate: Aggregate<AssetState, AssetCommand, AssetEvent> = {
  category: assetCategory,
  codec: assetCodec,
  decider: { initialState, decide, evolve },
};
