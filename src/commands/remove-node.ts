import type { CommandContext, CommandHandler, HandleOptions } from '../event-sourcing/command-handler.js';
import { nodeAggregate } from '../domain/node/node.js';

export interface RemoveNodeInput {
  readonly nodeId: string;
}

/** Removes a node; once more changes nothing. @throws CommandRejected node_not_found; PreconditionFailed */
export type RemoveNode = (
  input: RemoveNodeInput,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<void>;

export function makeRemoveNode({ handler }: { readonly handler: CommandHandler }): RemoveNode {
  return async ({ nodeId }, context, options) => {
    await handler.handle({ aggregate: nodeAggregate, id: nodeId }, { type: 'Remove' }, context, options);
  };
}
