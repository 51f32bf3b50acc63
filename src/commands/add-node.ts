import { beginning, type CommandContext, type CommandHandler } from '../event-sourcing/command-handler.js';
import { derivedId } from '../event-sourcing/ids.js';
import type { Versioned } from '../event-sourcing/views.js';
import { checkDescription, type NodeInput } from '../domain/node/description.js';
import { nodeAggregate } from '../domain/node/node.js';
import type { NodeReader, NodeResource } from '../../projections/peer-nodes/reader.js';

export type AddNodeInput = Pick<NodeInput, 'name' | 'ip_address'> & {
  readonly [Field in keyof NodeInput]?: NodeInput[Field] | undefined;
};

/** Registers a node; what is left out is ordinary, enabled and of full weight. @throws CommandRejected invalid_request */
export type AddNode = (input: AddNodeInput, context: CommandContext) => Promise<Versioned<NodeResource>>;

export function makeAddNode({
  handler,
  nodes,
}: {
  readonly handler: CommandHandler;
  readonly nodes: Pick<NodeReader, 'after'>;
}): AddNode {
  return async (input, context) => {
    const description = checkDescription({
      name: input.name,
      node_type: input.node_type ?? 'normal',
      ip_address: input.ip_address,
      dnsprovider_record_id: input.dnsprovider_record_id ?? '',
      lb_weight: input.lb_weight ?? 100,
      lb_enabled: input.lb_enabled ?? true,
      max_capacity_hint: input.max_capacity_hint ?? null,
      note: input.note ?? '',
    });
    const target = { aggregate: nodeAggregate, id: derivedId(context, 'node') };
    const { documents } = await handler.handle(
      target,
      { type: 'Register', description },
      context,
      beginning(context),
    );
    return nodes.after(documents);
  };
}
