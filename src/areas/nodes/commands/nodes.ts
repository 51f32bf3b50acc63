import type { NodeDeps } from '../deps.js';
import {
  type HandleOptions,
  loadOfNew,
  derivedId,
} from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { definedOf } from '../../../validation/fields.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import { type NodeInput, checkDescription, nodeAggregate, requireNode } from '../domain/node/node.js';
import type { NodeDescription, NodeMode } from '../domain/node/events.js';
import type { OperatedNode } from '../../../../projections/nodes/peer-nodes/resource.js';
import { makeReportNodeCheck } from './checks.js';

export type NodeCommands = ReturnType<typeof makeNodeCommands>;

export function makeNodeCommands(deps: NodeDeps) {
  return { ...makeNodes(deps), reportNodeCheck: makeReportNodeCheck(deps) };
}

type Changes = { readonly [Field in keyof NodeInput]?: NodeInput[Field] | undefined };
type AddNodeInput = Pick<NodeInput, 'name' | 'ip_address'> & Changes;

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

type Options = Pick<HandleOptions, 'expectedRevision'>;

/** Makes the use cases of operators for nodes. */
export function makeNodes({ handler, nodes }: Pick<NodeDeps, 'handler' | 'nodes'>) {
  const targetOf = (nodeId: string) => nodeAggregate.at(nodeId);
  return {
    /** Registers a node: by default `normal`, enabled and with the weight 100. @throws CommandRejected invalid_request */
    addNode: async (input: AddNodeInput, context: CommandContext): Promise<Versioned<OperatedNode>> => {
      const description = describeNewNode(input);
      const target = targetOf(derivedId(context, 'node'));
      const command = { type: 'Register', description } as const;
      const { documents } = await handler.handle(target, command, context, loadOfNew(context));
      return nodes.after(documents);
    },
    /**
     * Changes the given fields and the mode, which stays when left out.
     * @throws CommandRejected node_not_found, invalid_request; PreconditionFailed
     */
    changeNode: async (
      input: { readonly nodeId: string; readonly changes: Changes; readonly mode?: NodeMode | undefined },
      context: CommandContext,
      options?: Options,
    ): Promise<Versioned<OperatedNode>> => {
      const { nodeId, mode } = input;
      const { description } = requireNode((await handler.load(nodeAggregate, nodeId)).state);
      const before = new Map<string, unknown>(Object.entries(description));
      const after = checkDescription({ ...description, ...definedOf(input.changes) });
      const isMoved = after.ip_address !== description.ip_address;
      // Only the fields that differ, so that a concurrent change of another field stays. An address comes with its version.
      const changes = Object.fromEntries(
        Object.entries(after).filter(
          ([field, value]) => before.get(field) !== value || (isMoved && field === 'ip_version'),
        ),
      );
      const change = { type: 'Change', changes, mode } as const;
      const { documents } = await handler.handle(targetOf(nodeId), change, context, options);
      return nodes.after(documents);
    },
    /** Removes a node; a repetition changes nothing. @throws CommandRejected node_not_found; PreconditionFailed */
    removeNode: async ({ nodeId }: { nodeId: string }, context: CommandContext, options?: Options) => {
      await handler.handle(targetOf(nodeId), { type: 'Remove' }, context, options);
    },
  };
}
