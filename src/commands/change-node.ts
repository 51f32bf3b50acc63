import type { CommandContext, CommandHandler, HandleOptions } from '../event-sourcing/command-handler.js';
import type { Versioned } from '../event-sourcing/views.js';
import { checkDescription, type NodeInput } from '../domain/node/description.js';
import { nodeAggregate } from '../domain/node/node.js';
import { rejectNode } from '../domain/node/rejections.js';
import type { NodeReader, NodeResource } from '../../projections/peer-nodes/reader.js';

export interface ChangeNodeInput {
  readonly nodeId: string;
  readonly changes: { readonly [Field in keyof NodeInput]?: NodeInput[Field] | undefined };
}

/** Changes the fields that are given. @throws CommandRejected node_not_found, invalid_request; PreconditionFailed */
export type ChangeNode = (
  input: ChangeNodeInput,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<Versioned<NodeResource>>;

export function makeChangeNode({
  handler,
  nodes,
}: {
  readonly handler: CommandHandler;
  readonly nodes: Pick<NodeReader, 'after'>;
}): ChangeNode {
  return async ({ nodeId, changes }, context, options) => {
    const { state } = await handler.load(nodeAggregate, nodeId);
    if (state.status !== 'registered') return rejectNode('node_not_found', 'there is no such node');
    const before = new Map<string, unknown>(Object.entries(state.description));
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const after = checkDescription({ ...state.description, ...given });
    // Only what differs, so that another's change of another field, made meanwhile, stays.
    const different = Object.entries(after).filter(([field, value]) => before.get(field) !== value);
    const target = { aggregate: nodeAggregate, id: nodeId };
    const { documents } = await handler.handle(
      target,
      { type: 'Change', changes: Object.fromEntries(different) },
      context,
      options,
    );
    return nodes.after(documents);
  };
}
