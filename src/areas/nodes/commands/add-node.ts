import type { NodeDeps } from '../deps.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../../event-sourcing/deciding/ids.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import { checkDescription, type NodeInput } from '../domain/node/description.js';
import type { NodeDescription } from '../domain/node/events.js';
import { nodeAggregate } from '../domain/node/node.js';
import type { OperatedNode } from '../../../../projections/nodes/peer-nodes/reader.js';

export type AddNodeInput = Pick<NodeInput, 'name' | 'ip_address'> & {
  readonly [Field in keyof NodeInput]?: NodeInput[Field] | undefined;
};

/** Registers a node: by default `normal`, enabled and with the weight 100. @throws CommandRejected invalid_request */
export type AddNode = (input: AddNodeInput, context: CommandContext) => Promise<Versioned<OperatedNode>>;

/** Returns the description of a new node, with defaults for the fields that are left out. @throws CommandRejected invalid_request */
export function describeNewNode(input: AddNodeInput): NodeDescription {
  return checkDescription({
    name: input.name,
    node_type: input.node_type ?? 'normal',
    ip_address: input.ip_address,
    dnsprovider_record_id: input.dnsprovider_record_id ?? '',
    lb_weight: input.lb_weight ?? 100,
    lb_enabled: input.lb_enabled ?? true,
    max_capacity_hint: input.max_capacity_hint ?? null,
    note: input.note ?? '',
  });
}

export function makeAddNode({ handler, nodes }: Pick<NodeDeps, 'handler' | 'nodes'>): AddNode {
  return async (input, context) => {
    const description = describeNewNode(input);
    const target = { aggregate: nodeAggregate, id: derivedId(context, 'node') };
    const { documents } = await handler.handle(target, { type: 'Register', description }, context);
    return nodes.after(documents);
  };
}
