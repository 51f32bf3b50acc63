import { setMaxListeners } from 'node:events';
import { reasonOf } from './errors.js';
import type { AnyReaction } from './reaction.js';
import {
  type ReactionDeps,
  type ReactionProgress,
  type RunningReaction,
  runReaction,
} from './run-reaction.js';

/** One reaction, as metrics see it. */
export interface ReactionStatus extends ReactionProgress {
  readonly name: string;
  readonly state: 'running' | 'stopped';
  /** Why it stopped: a sentence with the event's type and place, never its payload. */
  readonly reason: string | null;
}

export interface ReactionEvents {
  readonly onRetry: (reaction: string, error: Error, failures: number) => void;
  /** A reaction stopped for good: the others go on, and what this one owes waits for the next start. */
  readonly onStopped: (reaction: string, error: unknown) => void;
}

export interface ReactionRunner {
  statuses(): readonly ReactionStatus[];
  /** Takes no further event, lets what runs finish within 5 s, then cuts it off; saves the marks. */
  stop(): Promise<void>;
}

/** Runs every reaction, each by itself. Their stores may be away: they are waited for. */
export function startReactions(
  deps: ReactionDeps,
  reactions: readonly AnyReaction[],
  events: ReactionEvents,
): ReactionRunner {
  if (new Set(reactions.map(({ name }) => name)).size < reactions.length) {
    throw new Error('two reactions have one name; they would move one mark');
  }
  const stopping = new AbortController();
  // Each of them listens; Node takes more than ten for a leak.
  setMaxListeners(reactions.length, stopping.signal);
  const tasks = reactions.map((reaction) => startTask(reaction));
  return {
    statuses: () => tasks.map((task) => task.status()),
    stop: async () => {
      stopping.abort();
      await Promise.all(tasks.map((task) => task.done));
    },
  };

  function startTask(reaction: AnyReaction): { status: () => ReactionStatus; done: Promise<void> } {
    const { name } = reaction;
    let reason: string | null = null;
    const running: RunningReaction = runReaction(deps, reaction, {
      signal: stopping.signal,
      onRetry: (error, failures) => {
        events.onRetry(name, error, failures);
      },
    });
    return {
      status: () => ({
        name,
        state: reason === null ? 'running' : 'stopped',
        reason,
        ...running.progress(),
      }),
      done: running.done.catch((error: unknown) => {
        reason = reasonOf(error);
        events.onStopped(name, error);
      }),
    };
  }
}
