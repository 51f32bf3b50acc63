import type { CommandContext, HandleOptions } from '../event-sourcing/command-handler.js';
import type { ReceivedCallback } from '../domain/payment-callback/events.js';
import type { CallbackResolution } from '../domain/payment-callback/payment-callback.js';
import type { Outcome } from './settlement-outcome.js';

/** One of the things that a callback tells. */
export interface Notification {
  readonly callbackId: string;
  readonly callback: ReceivedCallback;
  /** Names this notification in the order's events. */
  readonly name: string;
  readonly told: ReceivedCallback['notifications'][number];
  /** What somebody has decided on the callback. */
  readonly resolution: CallbackResolution | null;
}

/** A callback that is being settled. */
export interface Work {
  readonly callbackId: string;
  /** The revision at which it was looked at. */
  readonly revision: bigint;
  /** Whether somebody comes back to it until it is settled or held. */
  readonly isOwed: boolean;
  readonly notifications: readonly Notification[];
  /** What has become of each notification so far. */
  readonly outcomes: (Outcome | undefined)[];
}

/** One way through a callback and all that its links set free. */
export interface Run {
  readonly context: CommandContext;
  readonly options: HandleOptions;
  /** By callback, in the order in which they were found. */
  readonly works: Map<string, Work>;
}

export function startRun(context: CommandContext, options: HandleOptions): Run {
  return { context, options, works: new Map() };
}

/**
 * Those that are owed come last, and of them whoever was found first: the link that has set others free is theirs, and a crash before
 * that leaves somebody who comes back to the others.
 */
export function lastOwed({ works }: Run): readonly Work[] {
  const backwards = [...works.values()].reverse();
  return [...backwards.filter((work) => !work.isOwed), ...backwards.filter((work) => work.isOwed)];
}
