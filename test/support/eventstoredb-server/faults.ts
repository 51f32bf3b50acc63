/** The calls of a client that faults can be planned for. */
export type CallKind = 'append' | 'batch-append' | 'read' | 'subscribe' | 'features' | 'gossip';

/** Statuses of a real server, in the form in which it sends them (see `statuses.ts`). */
export type FaultStatus =
  'unavailable' | 'not-leader' | 'timeout' | 'not-ready' | 'access-denied' | 'cancelled' | 'unknown';

/** What the client hears of a call. */
export type Answer = 'normal' | 'nothing' | 'cut' | FaultStatus;

/**
 * What goes wrong with one call: whether its effect happens, and what the client hears of it. The two are independent,
 * so a lost acknowledgement is `{ apply: 'now', answer: 'cut' }` and a late application
 * `{ apply: { afterMs: 20 }, answer: 'timeout' }`.
 */
export interface Fault {
  /** Appends: when the events are written. Default `now`. */
  readonly apply?: 'now' | 'never' | { readonly afterMs: number };
  /** Default `normal`. `nothing` leaves the call open for ever; `cut` breaks the connection under it. */
  readonly answer?: Answer;
  /** Reads: the fault strikes after this many events. Default 0. */
  readonly afterEvents?: number;
  /** The answer leaves this many milliseconds after the effect. Default 0. */
  readonly delayMs?: number;
}

export interface Call {
  readonly kind: CallKind;
  /** Null for the whole log, and for calls that are about no stream. */
  readonly stream: string | null;
}

export interface Faults {
  /** Plans a fault for the next call of this kind, after those already planned. */
  next(kind: CallKind, ...faults: readonly Fault[]): void;
  /** Decides over every call for which nothing is planned; null ends that. */
  decideBy(decide: ((call: Call) => Fault | undefined) | null): void;
  /** For the server: what happens to this call. */
  take(call: Call): Fault;
  /** The calls so far. */
  readonly calls: readonly Call[];
}

export function makeFaults(): Faults {
  const planned = new Map<CallKind, Fault[]>();
  const calls: Call[] = [];
  let decider: ((call: Call) => Fault | undefined) | null = null;
  return {
    calls,
    next: (kind, ...faults) => {
      planned.set(kind, [...(planned.get(kind) ?? []), ...faults]);
    },
    decideBy: (decide) => {
      decider = decide;
    },
    take: (call) => {
      calls.push(call);
      return planned.get(call.kind)?.shift() ?? decider?.(call) ?? {};
    },
  };
}
