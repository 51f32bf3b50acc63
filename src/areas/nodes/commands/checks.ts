import type { NodeDeps } from '../deps.js';
import { Overloaded, makeKeyedMutex } from '../../../kit/semaphore.js';
import { type NodeCheck, afterResult, nodeCheck, nodeCheckKey } from '../domain/node/fold.js';
import { isBehind, nodeAggregate, type RegisteredNode, requireNode } from '../domain/node/node.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { OutcomeUnknown, StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import { stepContext } from '../../../event-sourcing/deciding/command-handler.js';
import { changeRecord } from '../../../event-sourcing/ports/change-record.js';

/**
 * Counts the result of a check, and brings the status of the node to that of its record (src/areas/nodes/README.md#node-checks).
 * @throws CommandRejected node_not_found; Overloaded, StoreUnavailable when nothing was counted; OutcomeUnknown
 */
export type ReportNodeCheck = ReturnType<typeof makeReportNodeCheck>;

/** Checks of one node that may wait in a process. */
const waitingMax = 1_000;
/** Only other processes race for a record. Each race that is lost is a result that another process counted. */
const tries = 100;

export function makeReportNodeCheck(
  deps: Pick<NodeDeps, 'handler' | 'stateStore' | 'nodeChecks' | 'onChecked'>,
) {
  const { handler, stateStore, nodeChecks, onChecked } = deps;
  const queued = makeKeyedMutex({ waitingMax });
  const followCheck = makeFollowCheck(deps);
  return async ({ nodeId, ok }: { nodeId: string; ok: boolean }, context: CommandContext) => {
    // Without this, checks of nodes that do not exist would fill the state store.
    const known = requireNode((await handler.load(nodeAggregate, nodeId)).state);
    const counted = await queued(nodeId, () => count(nodeId, known, ok, context));
    onChecked?.(ok);
    nodeChecks.note(nodeId, counted);
    await followCheck(nodeId, counted, context);
  };

  async function count(
    nodeId: string,
    known: RegisteredNode,
    ok: boolean,
    { request, time }: CommandContext,
  ): Promise<NodeCheck> {
    request?.appending();
    try {
      const changed = await changeRecord(
        stateStore,
        { key: nodeCheckKey(nodeId), schema: nodeCheck },
        (found) => {
          if (request?.isOver() === true) throw new StoreUnavailable('the request has been answered');
          const result = afterResult(found?.value ?? null, known, { ok, time });
          return { write: result, result };
        },
        { tries },
      );
      if (changed === null) throw new Overloaded(`a check lost ${tries} races for its record`);
      if ('kept' in changed) throw new Error('a check keeps no record');
      return changed.result;
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) request?.wroteNothing();
      throw error;
    }
  }
}

/** Brings the stream of a node to the status of its record. @throws CommandRejected node_not_found; StoreUnavailable */
export type FollowCheck = (nodeId: string, check: NodeCheck, context: CommandContext) => Promise<void>;

/**
 * Makes the function. Another process may write a newer record, and find the stream unchanged, before this one appends an
 * older status. So each append is followed by a look at the record
 * (docs/decisions/nodes.md#0068-records-hold-the-status).
 */
export function makeFollowCheck(deps: Pick<NodeDeps, 'handler' | 'nodeChecks'>): FollowCheck {
  const { handler, nodeChecks } = deps;
  return async (nodeId, check, { request: _, ...context }) => {
    for (let newest: NodeCheck | null = check; newest !== null;) {
      const followed: NodeCheck = newest;
      // A command without an event writes its documents all the same, and every list would be read again.
      const { state } = await handler.load(nodeAggregate, nodeId);
      if (!isBehind(requireNode(state), followed)) return;
      // One command appends several times here, so each append needs an id.
      const step = stepContext(context, `check ${followed.sequence}`);
      const follow = { type: 'FollowCheck', check: followed } as const;
      const { events } = await handler.handle(nodeAggregate.at(nodeId), follow, step);
      if (events.length === 0) return;
      const stored = await nodeChecks.one(nodeId);
      newest = stored !== null && stored.sequence > followed.sequence ? stored : null;
    }
  };
}
