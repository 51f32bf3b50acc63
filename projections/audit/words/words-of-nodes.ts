import type { NodeDescription, NodeEvent } from '../../../src/areas/nodes/domain/node/events.js';
import { inQuotes, type Phrases } from './phrases.js';

function nodeInWords({ name, node_type, ip_address, lb_weight, lb_enabled }: NodeDescription): string {
  return `${inQuotes(name)}, type ${node_type}, address ${ip_address}, weight ${lb_weight}, ${lb_enabled ? 'on' : 'off'}`;
}

/** The events of a peer node. */
export const nodeWords: Phrases<NodeEvent> = {
  NodeRegistered: (description, id) => `registered node ${id}: ${nodeInWords(description)}`,
  NodeChanged: (description, id) => `changed node ${id}: ${nodeInWords(description)}`,
  NodeStatusChanged: ({ status, consecutive_failures, consecutive_successes, because }, id) =>
    because === 'silence'
      ? `found that no check of node ${id} was reported for a minute: ${status}`
      : `found node ${id} ${status}: ${consecutive_failures} checks failed and ${consecutive_successes} succeeded in a row`,
  NodeModeChanged: ({ mode }, id) => `set the mode of node ${id} to ${mode}`,
  NodeRemoved: (_, id) => `removed node ${id}`,
};
