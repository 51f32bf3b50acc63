import type { NodeDeps } from '../deps.js';
import type { HandleOptions } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { nodeAggregate } from '../domain/node/node.js';

export interface RemoveNodeInput {
  readonly nodeId: string;
}

/** Removes a node; a repetition changes nothing. @throws CommandRejected node_not_found; PreconditionFailed */
export type RemoveNode = (
  input: RemoveNodeInput,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<void>;

export function makeRemoveNode({ handler }: Pick<NodeDeps, 'handler'>): RemoveNode {
  return async ({ nodeId }, context, options) => {
    await handler.handle({ aggregate: nodeAggregate, id: nodeId }, { type: 'Remove' }, context, options);
  };
}
