import type { HandleOptions } from '../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import type { ReceivedCallback } from '../../domain/payment-callback/events.js';
import type { CallbackResolution } from '../../domain/payment-callback/payment-callback.js';
import type { SettlementOutcome } from './settlement-outcome.js';

/** One notification of a callback. */
export interface Notification {
  readonly callbackId: string;
  readonly callback: ReceivedCallback;
  /** Names this notification in the order's events. */
  readonly name: string;
  readonly content: ReceivedCallback['notifications'][number];
  /** An operator's decision on the callback. */
  readonly resolution: CallbackResolution | null;
}

/** A callback of a run. */
export interface OpenCallback {
  readonly callbackId: string;
  /** The revision at which the run read it. */
  readonly revision: bigint;
  /** Whether a reaction settles it again after a crash. */
  readonly isOwed: boolean;
  readonly notifications: readonly Notification[];
  /** The outcomes so far, by the index of the notification. */
  readonly outcomes: (SettlementOutcome | undefined)[];
}

/** One settling of a callback and of all parked callbacks that its links release. */
export interface SettlementRun {
  readonly context: CommandContext;
  readonly options: HandleOptions;
  /** The state that the run's loads return. A cached one contains at least the run's own appends. */
  readonly load: 'latest' | 'remembered';
  /** By id, in the order in which the run found them. */
  readonly callbacks: Map<string, OpenCallback>;
}

export function startRun(
  context: CommandContext,
  options: HandleOptions & { readonly load?: SettlementRun['load'] },
): SettlementRun {
  return { context, options, load: options.load ?? 'latest', callbacks: new Map() };
}

/**
 * Returns the callbacks in the order of their conclusion. The callback that made the links is the last: after a crash
 * before that, its reaction runs again and settles the parked callbacks, to which no reaction returns.
 */
export function conclusionOrder({ callbacks }: SettlementRun): readonly OpenCallback[] {
  const backwards = [...callbacks.values()].reverse();
  return [...backwards.filter(({ isOwed }) => !isOwed), ...backwards.filter(({ isOwed }) => isOwed)];
}
