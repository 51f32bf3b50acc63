import type { Aggregate } from '../../event-sourcing/deciding/decider.js';
import { shareAccessCodec, type ShareAccessEvent, shareAccessCategory } from './events.js';

export interface ShareAccessState {
  readonly recorded: boolean;
}

export interface ShareAccessCommand {
  readonly type: 'Record';
  readonly shareId: string;
  readonly projectId: string;
  readonly clientIpDigest: string | null;
}

const initialState: ShareAccessState = { recorded: false };

function decide(command: ShareAccessCommand, { recorded }: ShareAccessState): readonly ShareAccessEvent[] {
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
  decider: { initialState, decide, evolve: () => ({ recorded: true }) },
};
