import type { Aggregate } from '../../event-sourcing/decider.js';
import { assetCodec, type AssetDescription, type AssetEvent } from './events.js';
import { rejectAsset } from './rejections.js';
import { assetCategory } from './stream.js';

export type AssetState =
  | { readonly status: 'absent' }
  | ({ readonly status: 'existing' } & AssetDescription)
  | { readonly status: 'removed' };

export type AssetCommand =
  | { readonly type: 'Add'; readonly description: AssetDescription }
  | { readonly type: 'Rename'; readonly name: string }
  | { readonly type: 'Remove' };

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
      // An asset's id is made from the command that adds it, so one that exists is what an earlier try has made.
      if (state.status !== 'absent') return [];
      return [{ type: 'AssetAdded', data: command.description }];
    }
    case 'Rename':
      if (existing(state).name === command.name) return [];
      return [{ type: 'AssetRenamed', data: { name: command.name } }];
    case 'Remove':
      if (state.status === 'removed') return [];
      existing(state);
      return [{ type: 'AssetRemoved', data: {} }];
  }
}

function existing(state: AssetState): Extract<AssetState, { status: 'existing' }> {
  return state.status === 'existing' ? state : rejectAsset('asset_not_found', 'there is no such asset');
}

export const assetAggregate: Aggregate<AssetState, AssetCommand, AssetEvent> = {
  category: assetCategory,
  codec: assetCodec,
  decider: { initialState, decide, evolve },
};
