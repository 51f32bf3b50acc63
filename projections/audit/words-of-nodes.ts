import type { NodeDescription, NodeEvent } from '../../src/domain/node/events.js';
import { inQuotes, type Phrases } from './phrases.js';

function nodeInWords({ name, node_type, ip_address, lb_weight, lb_enabled }: NodeDescription): string {
  return `${inQuotes(name)}, type ${node_type}, address ${ip_address}, weight ${lb_weight}, ${lb_enabled ? 'on' : 'off'}`;
}

/** The events of a peer node. */
export const nodeWords: Phrases<NodeEvent> = {
  NodeRegistered: (description, id) => `registered node ${id}: ${nodeInWords(description)}`,
  NodeChanged: (description, id) => `changed node ${id}: ${nodeInWords(description)}`,
  NodeRemoved: (_, id) => `removed node ${id}`,
};
