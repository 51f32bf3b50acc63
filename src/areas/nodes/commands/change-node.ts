import type { NodeDeps } from '../deps.js';
import type { HandleOptions } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import { checkDescription, type NodeInput } from '../domain/node/description.js';
import type { NodeMode } from '../domain/node/events.js';
import { nodeAggregate, requireNode } from '../domain/node/node.js';
import type { OperatedNode } from '../../../../projections/nodes/peer-nodes/reader.js';

export interface ChangeNodeInput {
  readonly nodeId: string;
  readonly changes: { readonly [Field in keyof NodeInput]?: NodeInput[Field] | undefined };
  /** The mode stays when left out. */
  readonly mode?: NodeMode | undefined;
}

/** Changes the given fields and the mode. @throws CommandRejected node_not_found, invalid_request; PreconditionFailed */
export type ChangeNode = (
  input: ChangeNodeInput,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<Versioned<OperatedNode>>;

export function makeChangeNode({ handler, nodes }: Pick<NodeDeps, 'handler' | 'nodes'>): ChangeNode {
  return async ({ nodeId, changes, mode }, context, options) => {
    const { state } = await handler.load(nodeAggregate, nodeId);
    const { description } = requireNode(state);
    const before = new Map<string, unknown>(Object.entries(description));
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const after = checkDescription({ ...description, ...given });
    // Only the fields that differ, so that a concurrent change of another field stays.
    const different = Object.entries(after).filter(([field, value]) => before.get(field) !== value);
    const target = { aggregate: nodeAggregate, id: nodeId };
    const { documents } = await handler.handle(
      target,
      { type: 'Change', changes: Object.fromEntries(different), mode },
      context,
      options,
    );
    return nodes.after(documents);
  };
}
