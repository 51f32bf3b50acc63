import type { Aggregate } from '../../event-sourcing/deciding/decider.js';
import { nodeCodec, type NodeDescription, type NodeEvent, nodeCategory } from './events.js';
import { rejectNode } from './rejections.js';

export type NodeState =
  | { readonly status: 'absent' }
  | { readonly status: 'registered'; readonly description: NodeDescription }
  | { readonly status: 'removed' };

export type NodeCommand =
  | { readonly type: 'Register'; readonly description: NodeDescription }
  | { readonly type: 'Change'; readonly changes: Partial<NodeDescription> }
  | { readonly type: 'Remove' };

const initialState: NodeState = { status: 'absent' };

function evolve(_state: NodeState, event: NodeEvent): NodeState {
  switch (event.type) {
    case 'NodeRegistered':
    case 'NodeChanged':
      return { status: 'registered', description: event.data };
    case 'NodeRemoved':
      return { status: 'removed' };
  }
}

function decide(command: NodeCommand, state: NodeState): readonly NodeEvent[] {
  switch (command.type) {
    case 'Register':
      // The id derives from the command, so an earlier attempt made the existing node.
      return state.status === 'absent' ? [{ type: 'NodeRegistered', data: command.description }] : [];
    case 'Change':
      return change(command.changes, state);
    case 'Remove':
      return remove(state);
  }
}

function change(changes: Partial<NodeDescription>, state: NodeState): readonly NodeEvent[] {
  if (state.status !== 'registered') rejectNode('node_not_found', 'there is no such node');
  const before: NodeDescription = state.description;
  const after = { ...before, ...changes };
  const fields = Object.keys(after) as (keyof NodeDescription)[];
  return fields.every((field) => after[field] === before[field])
    ? []
    : [{ type: 'NodeChanged', data: after }];
}

function remove(state: NodeState): readonly NodeEvent[] {
  switch (state.status) {
    case 'absent':
      return rejectNode('node_not_found', 'there is no such node');
    case 'registered':
      return [{ type: 'NodeRemoved', data: {} }];
    case 'removed':
      return [];
  }
}

export const nodeAggregate: Aggregate<NodeState, NodeCommand, NodeEvent> = {
  category: nodeCategory,
  codec: nodeCodec,
  decider: { initialState, decide, evolve },
};
