import type { Recorded } from '../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../src/event-sourcing/views/projection.js';
import {
  nodeCodec,
  type NodeDescription,
  type NodeEvent,
  nodeCategory,
} from '../../src/domain/node/events.js';
import type { NodeStatus } from '../../src/domain/node/status.js';

export type NodeDocument = Readonly<NodeDescription> & {
  readonly status: NodeStatus;
  readonly status_changed_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
};

function evolve(document: NodeDocument | null, event: Recorded<NodeEvent>): NodeDocument | null {
  switch (event.type) {
    case 'NodeRegistered': {
      const times = { created_at: event.time, updated_at: event.time };
      return { ...event.data, status: 'unknown', status_changed_at: null, ...times };
    }
    case 'NodeChanged':
      return document === null ? null : { ...document, ...event.data, updated_at: event.time };
    case 'NodeRemoved':
      return null;
  }
}

export const peerNodesProjection: Projection<NodeDocument, NodeEvent> = {
  name: 'peer_nodes',
  version: 1,
  category: nodeCategory,
  codec: nodeCodec,
  indexes: [],
  evolve,
};
