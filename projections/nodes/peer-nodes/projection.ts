import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import {
  nodeCodec,
  type NodeDescription,
  type NodeEvent,
  nodeCategory,
} from '../../../src/areas/nodes/domain/node/events.js';
import {
  conditionAfter,
  newCondition,
  type NodeCondition,
  statusShown,
} from '../../../src/areas/nodes/domain/node/fold.js';

/** The counters of a node are no events: its reader joins them. */
export type NodeDocument = Readonly<NodeDescription> & {
  readonly [Field in keyof NodeCondition]: NodeCondition[Field];
} & {
  /** When the shown status changed: the mode hides changes of the health. */
  readonly status_changed_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
};

function evolve(document: NodeDocument | null, event: Recorded<NodeEvent>): NodeDocument | null {
  if (event.type === 'NodeRegistered') {
    const times = { created_at: event.time, updated_at: event.time };
    return { ...event.data, ...newCondition, status_changed_at: null, ...times };
  }
  if (document === null) return null;
  switch (event.type) {
    case 'NodeChanged':
      return { ...document, ...event.data, updated_at: event.time };
    case 'NodeStatusChanged':
      return withCondition(document, event);
    case 'NodeModeChanged':
      return { ...withCondition(document, event), updated_at: event.time };
    case 'NodeRemoved':
      return null;
  }
}

function withCondition(document: NodeDocument, event: Recorded<NodeEvent>): NodeDocument {
  const condition = conditionAfter(document, event);
  const { health, mode } = condition;
  const isShown = statusShown(condition) !== statusShown(document);
  return { ...document, health, mode, ...(isShown ? { status_changed_at: event.time } : {}) };
}

export const peerNodesProjection: Projection<NodeDocument, NodeEvent> = {
  name: 'peer_nodes',
  version: 2,
  category: nodeCategory,
  codec: nodeCodec,
  indexes: [],
  evolve,
};
