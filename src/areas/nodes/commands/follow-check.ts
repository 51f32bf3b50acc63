import type { NodeDeps } from '../deps.js';
import { isBehind, nodeAggregate, requireNode } from '../domain/node/node.js';
import type { NodeCheck } from '../domain/node/status.js';
import { stepContext } from '../../../event-sourcing/deciding/ids.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';

/** Brings the stream of a node to the status of its record. @throws CommandRejected node_not_found; StoreUnavailable */
export type FollowCheck = (nodeId: string, check: NodeCheck, context: CommandContext) => Promise<void>;

/**
 * Makes the function. Another process may write a newer record, and find the stream unchanged, before this one appends an
 * older status. So each append is followed by a look at the record
 * (docs/decisions/0068-the-record-of-a-node-holds-its-status.md).
 */
export function makeFollowCheck({
  handler,
  nodeChecks,
}: Pick<NodeDeps, 'handler' | 'nodeChecks'>): FollowCheck {
  return async (nodeId, check, { request: _, ...context }) => {
    const target = { aggregate: nodeAggregate, id: nodeId };
    for (let newest: NodeCheck | null = check; newest !== null;) {
      const followed: NodeCheck = newest;
      // A command without an event writes its documents all the same, and every list would be read again.
      const { state } = await handler.load(nodeAggregate, nodeId);
      if (!isBehind(requireNode(state), followed)) return;
      // One command appends several times here, so each append needs an id.
      const step = stepContext(context, `check ${followed.sequence}`);
      const { events } = await handler.handle(target, { type: 'FollowCheck', check: followed }, step);
      if (events.length === 0) return;
      const stored = await nodeChecks.one(nodeId);
      newest = stored !== null && stored.sequence > followed.sequence ? stored : null;
    }
  };
}
