import type { Aggregate, Evolving } from '../../../../event-sourcing/deciding/decider.js';
import { shareAccessCodec, type ShareAccessEvent, shareAccessCategory } from './events.js';

export interface ShareAccessState {
  readonly recorded: boolean;
  /** The assets that the visitor has saved, at most `savedAssetsMax`. */
  readonly saved: readonly string[];
}

export type ShareAccessCommand =
  | {
      readonly type: 'Record';
      readonly shareId: string;
      readonly projectId: string;
      readonly clientIpDigest: string | null;
    }
  /** The visitor saves a file of an asset. Appends nothing for an asset that was saved before. */
  | { readonly type: 'RecordDownload'; readonly shareId: string; readonly assetId: string };

/** Assets of one access whose downloads count, so that no visitor fills the log. A share of a tag may show more in 12 h. */
export const savedAssetsMax = 200;

const initialState: ShareAccessState = { recorded: false, saved: [] };

function evolve(state: ShareAccessState, event: Evolving<ShareAccessEvent>): ShareAccessState {
  return event.type === 'ShareVerified'
    ? { ...state, recorded: true }
    : { ...state, saved: [...state.saved, event.data.asset_id] };
}

function decide(
  command: ShareAccessCommand,
  { recorded, saved }: ShareAccessState,
): readonly ShareAccessEvent[] {
  if (command.type === 'RecordDownload') {
    const { shareId, assetId } = command;
    const counts = recorded && !saved.includes(assetId) && saved.length < savedAssetsMax;
    return counts ? [{ type: 'ShareDownloaded', data: { share_id: shareId, asset_id: assetId } }] : [];
  }
  if (recorded) return [];
  const { shareId, projectId, clientIpDigest } = command;
  return [
    {
      type: 'ShareVerified',
      data: { share_id: shareId, project_id: projectId, client_ip_digest: clientIpDigest },
    },
  ];
}

export const shareAccessAggregate: Aggregate<ShareAccessState, ShareAccessCommand, ShareAccessEvent> = {
  category: shareAccessCategory,
  codec: shareAccessCodec,
  decider: { initialState, decide, evolve },
};
