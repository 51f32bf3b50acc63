import type { SetApartItem } from '../feeding/set-apart.js';
import { reasonOf } from '../ports/errors.js';
import { reactionConsumer } from '../feeding/consumers/names.js';
import { makeTasks, type Task } from '../feeding/consumers/tasks.js';
import type { Lease, Progress } from '../feeding/consumers/lease.js';
import type { AnyReaction } from './reaction.js';
import {
  type ReactionDeps,
  type ReactionProgress,
  type RunningReaction,
  runReaction,
} from './run-reaction.js';

/** The status of one reaction, for metrics. */
export interface ReactionStatus extends ReactionProgress {
  readonly name: string;
  readonly state: 'running' | 'stopped';
  /** Why the reaction stopped: a sentence with type, stream and revision of the event, never its payload. */
  readonly reason: string | null;
}

export interface ReactionEvents {
  readonly onRetry: (reaction: string, error: Error, failures: number) => void;
  /** An event cannot be served, because an event cannot be read. The reaction serves all others. */
  readonly onSetApart: (reaction: string, event: SetApartItem) => void;
  /** A reaction stopped. The others go on; the open events of this one wait for the next start. */
  readonly onStopped: (reaction: string, error: unknown) => void;
}

export interface ReactionRunner {
  /** Returns the status of every reaction that this process runs. */
  statuses(): readonly ReactionStatus[];
  /** Takes no further event, lets running effects finish within 5 s, cuts the rest off, and saves the marks. */
  stop(): Promise<void>;
}

interface ReactionTask extends Task {
  status(): ReactionStatus;
}

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
    throw new Error('two reactions have one name, so they would share one mark');
  }
  for (const { name, types, codec } of reactions) {
    const unknown = types.filter((type) => !codec.types.includes(type));
    if (unknown.length > 0) throw new Error(`the codec of ${name} does not know ${unknown.join(', ')}`);
  }
  const { lease } = deps;
  const tasks = makeTasks<ReactionTask>();
  /** The reactions that have stopped here. Another process takes the lease over; the stopped task stays for its reason. */
  const stoppedHere = new Set<AnyReaction>();
  for (const { name } of reactions) lease.add(reactionConsumer(name), () => progressOf(name));
  adjust();
  const removeListener = lease.onChange(adjust);

  return {
    statuses: () => tasks.all().map((task) => task.status()),
    stop: async () => {
      removeListener();
      await tasks.stop();
    },
  };

  function progressOf(name: string): Progress {
    const status = tasks.get(name)?.status();
    if (status === undefined) return { state: null, lagMs: 0, problem: null };
    const { oldestOpenAt, atHead, reason } = status;
    // Another process may have recorded the event, and its clock may be ahead.
    const lagMs =
      oldestOpenAt === null ? 0 : Math.max(0, deps.clock.now().getTime() - oldestOpenAt.getTime());
    const state = status.state === 'running' && !atHead ? 'catching-up' : status.state;
    return { state, lagMs, problem: reason };
  }

  function adjust(): void {
    const wanted = new Map<string, () => ReactionTask>();
    for (const reaction of reactions) {
      if (lease.isOwner() || stoppedHere.has(reaction)) wanted.set(reaction.name, () => startTask(reaction));
    }
    tasks.adjust(wanted);
  }

  function startTask(reaction: AnyReaction): ReactionTask {
    const { name } = reaction;
    const controller = new AbortController();
    let reason: string | null = null;
    const running: RunningReaction = runReaction(deps, reaction, {
      signal: controller.signal,
      ...(deps.aheadMax === undefined ? {} : { aheadMax: deps.aheadMax }),
      onRetry: (error, failures) => {
        events.onRetry(name, error, failures);
      },
      onSetApart: (event) => {
        events.onSetApart(name, event);
      },
    });
    return {
      end: () => {
        controller.abort();
      },
      status: () => ({
        name,
        state: reason === null ? 'running' : 'stopped',
        reason,
        ...running.progress(),
      }),
      done: running.done.catch((error: unknown) => {
        reason = reasonOf(error);
        events.onStopped(name, error);
        stoppedHere.add(reaction);
        lease.stopped(reactionConsumer(name));
      }),
    };
  }
}
