/**
 * The calls of a client that a test can plan faults for. A `probe` is an append that expects a revision that no stream
 * reaches.
 */
type CallKind = 'append' | 'probe' | 'read' | 'subscribe' | 'features' | 'gossip';

/** The statuses of a real server, in the form in which it sends them (see `statuses.ts`). */
export type FaultStatus =
  | 'unavailable'
  | 'not-leader'
  | 'timeout'
  | 'not-ready'
  | 'access-denied'
  | 'cancelled'
  | 'unknown'
  | 'read-all-error';

/** The answer that the client receives. */
export type Answer = 'normal' | 'nothing' | 'cut' | FaultStatus;

/**
 * The fault of one call: whether its effect happens, and which answer the client receives. The two are independent. So
 * a lost acknowledgement is `{ apply: 'now', answer: 'cut' }`, and a late application is `{ apply: { afterMs: 20 },
 * answer: 'timeout' }`.
 */
export interface Fault {
  /** For appends: the time of the write. Default `now`. */
  readonly apply?: 'now' | 'never' | { readonly afterMs: number };
  /** The answer. Default `normal`. `nothing` leaves the call open for ever; `cut` breaks its connection. */
  readonly answer?: Answer;
  /** For reads: the number of events before the fault. Default 0. */
  readonly afterEvents?: number;
  /** The delay of the answer after the effect, in milliseconds. Default 0. */
  readonly delayMs?: number;
}

export interface Call {
  readonly kind: CallKind;
  /** Null for the whole log, and for calls that concern no stream. */
  readonly stream: string | null;
  /** The direction of a read. */
  readonly direction?: 'forwards' | 'backwards';
}

export interface Faults {
  /** Plans a fault for the next call of this kind, after the faults that are already planned. */
  next(kind: CallKind, ...faults: readonly Fault[]): void;
  /** Sets the function that decides the fault of every call without a planned one; null removes it. */
  decideBy(decide: ((call: Call) => Fault | undefined) | null): void;
  /** Returns the fault of this call, for the server. */
  take(call: Call): Fault;
  /** The calls so far, without those for the version of the server. */
  readonly calls: readonly Call[];
}

export function makeFaults(): Faults {
  const planned = new Map<CallKind, Fault[]>();
  const calls: Call[] = [];
  let decider: ((call: Call) => Fault | undefined) | null = null;
  return {
    calls,
    next: (kind, ...faults) => planned.set(kind, [...(planned.get(kind) ?? []), ...faults]),
    decideBy: (decide) => {
      decider = decide;
    },
    take: (call) => {
      if (call.kind !== 'features') calls.push(call);
      return planned.get(call.kind)?.shift() ?? decider?.(call) ?? {};
    },
  };
}
