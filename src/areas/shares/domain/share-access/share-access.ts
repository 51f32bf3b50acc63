import { defineAggregate, type Evolving } from '../../../../event-sourcing/deciding/command-handler.js';
import { type ShareAccessEvent, shareAccessEvents } from './events.js';

interface ShareAccessState {
  readonly recorded: boolean;
  /** The assets that the visitor has saved, at most `savedAssetsMax`. */
  readonly saved: readonly string[];
}

type Fact<Type extends ShareAccessEvent['type']> = Extract<ShareAccessEvent, { type: Type }>['data'];

export type ShareAccessCommand =
  | ({ readonly type: 'Record' } & Fact<'ShareVerified'>)
  /** The visitor saves a file of an asset. Appends nothing for an asset that was saved before. */
  | ({ readonly type: 'RecordDownload' } & Fact<'ShareDownloaded'>);

/** Assets of one access whose downloads count, so that no visitor fills the log. A share of a tag may show more in 12 h. */
export const savedAssetsMax = 200;

const initialState: ShareAccessState = { recorded: false, saved: [] };

function evolve(state: ShareAccessState, event: Evolving<ShareAccessEvent>): ShareAccessState {
  return event.type === 'ShareVerified'
    ? { ...state, recorded: true }
    : { ...state, saved: [...state.saved, event.data.asset_id] };
}

function decide(
  { type: _, ...data }: ShareAccessCommand,
  { recorded, saved }: ShareAccessState,
): readonly ShareAccessEvent[] {
  if (!('asset_id' in data)) return recorded ? [] : [{ type: 'ShareVerified', data }];
  const counts = recorded && !saved.includes(data.asset_id) && saved.length < savedAssetsMax;
  return counts ? [{ type: 'ShareDownloaded', data }] : [];
}

export const shareAccessAggregate = defineAggregate(shareAccessEvents, { initialState, decide, evolve });
