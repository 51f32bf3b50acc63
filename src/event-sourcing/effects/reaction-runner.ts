import type { Quarantined } from '../feeding/quarantine.js';
import { reactionConsumer } from '../feeding/consumers/tasks.js';
import { runConsumers, type Consumers } from '../feeding/consumers/run-consumers.js';
import type { Lease, Progress } from '../feeding/consumers/lease.js';
import type { AnyReaction } from './reaction.js';
import { type ReactionDeps, type ReactionProgress, runReaction } from './run-reaction.js';

/** The status of one reaction, for metrics. */
export interface ReactionStatus extends ReactionProgress {
  readonly name: string;
  readonly state: 'running' | 'stopped';
  /** Why the reaction stopped: a sentence with type, stream and revision of the event, never its payload. */
  readonly reason: string | null;
}

interface ReactionEvents {
  readonly onRetry: (reaction: string, error: Error, failures: number) => void;
  /** An event cannot be served, because an event cannot be read. The reaction serves all others. */
  readonly onQuarantined: (reaction: string, event: Quarantined) => void;
  /** A reaction stopped. The others go on; the open events of this one wait for the next start. */
  readonly onStopped: (reaction: string, error: unknown) => void;
}

/** `stop`: takes no further event, lets running effects finish within 5 s, cuts the rest off, and saves the checkpoints. */
export type ReactionRunner = Pick<Consumers<ReactionStatus>, 'statuses' | 'stop'>;

/**
 * Runs each reaction while this process is the owner of the lease, independently of the others: src/event-sourcing/feeding/README.md#the-lease. A
 * reaction retries while a store is unavailable. After a takeover, claims keep the turns that still run here from those of
 * the next owner.
 */
export function startReactions(
  deps: ReactionDeps & { readonly lease: Lease; readonly aheadMax?: number },
  reactions: readonly AnyReaction[],
  events: ReactionEvents,
): ReactionRunner {
  if (new Set(reactions.map(({ name }) => name)).size < reactions.length) {
    throw new Error('two reactions have one name, so they would share one checkpoint');
  }
  for (const { name, types, codec } of reactions) {
    const unknown = types.filter((type) => !codec.types.includes(type));
    if (unknown.length > 0) throw new Error(`the codec of ${name} does not know ${unknown.join(', ')}`);
  }
  const consumers = reactions.map((reaction) => ({
    name: reactionConsumer(reaction.name),
    tasks: () => new Map([[reaction.name, (signal: AbortSignal) => start(reaction, signal)]]),
    progress: ([status]: readonly ReactionStatus[]) => progressOf(status),
  }));
  return runConsumers(deps.lease, consumers, events.onStopped);

  function progressOf(status: ReactionStatus | undefined): Progress {
    if (status === undefined) return { state: null, lagMs: 0, problem: null };
    const { oldestOpenAt, atHead, reason } = status;
    // Another process may have recorded the event, and its clock may be ahead.
    const lagMs =
      oldestOpenAt === null ? 0 : Math.max(0, deps.clock.now().getTime() - oldestOpenAt.getTime());
    const state = status.state === 'running' && !atHead ? 'catching-up' : status.state;
    return { state, lagMs, problem: reason };
  }

  function start(reaction: AnyReaction, signal: AbortSignal) {
    const { name } = reaction;
    const running = runReaction(deps, reaction, {
      signal,
      ...(deps.aheadMax === undefined ? {} : { aheadMax: deps.aheadMax }),
      onRetry: (error, failures) => events.onRetry(name, error, failures),
      onQuarantined: (event) => events.onQuarantined(name, event),
    });
    return {
      done: running.done,
      status: (): ReactionStatus => ({ name, state: 'running', reason: null, ...running.progress() }),
    };
  }
}
