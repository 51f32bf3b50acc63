import type { Metadata } from '@grpc/grpc-js';
import type { Answer, Call, Fault, Faults } from './faults.js';
import type { ServerLog } from './log.js';
import {
  faultStatus,
  type InsideRecordVersion,
  notAuthenticated,
  type Endpoint,
  type StatusError,
} from './statuses.js';

/** The state that the services of one server share. */
export interface ServerContext {
  readonly log: ServerLog;
  readonly faults: Faults;
  readonly subscriptions: Set<LiveSubscription>;
  /** The streams with an append that is written and not yet acknowledged. */
  readonly indexing: Set<string>;
  readonly options: ServerOptions;
  /** Returns the address at which clients reach this node. */
  self(): Endpoint;
  /** Breaks the connections of all clients. */
  cut(): void;
  /** Runs an action later, unless the server is closed by then. */
  later(ms: number, action: () => void): void;
}

/** A subscription to the whole log that a client holds open. */
export interface LiveSubscription {
  /** Ends it with a status, like a server that goes away or drops a slow consumer. */
  drop(error: StatusError): void;
  /** Ends it without a status. */
  end(): void;
  /** Leaves it open and sends nothing further. */
  stall(): void;
}

export interface ServerOptions {
  /** On a follower: the address of the leader, which refusals name. Null on the leader. */
  readonly leader: () => Endpoint | null;
  /** `user:password` that every call must carry; null accepts every call. */
  readonly credentials: string | null;
  /** Whether reads of one stream return positions, as servers from 22.6 on do. */
  readonly streamReadPositions: boolean;
  /** An append of more events than this drops live subscriptions; 21.10 has 32. */
  readonly liveBufferMax: number;
  /** The version that the server names. */
  readonly version: string;
  /** The version whose text answers a read of the log at a position inside a record. */
  readonly insideRecord: InsideRecordVersion;
  /** The time between the write of an append and its acknowledgement. The server drops a repetition in that time. */
  readonly indexingMs: number;
  /** The time after which it answers a dropped repetition with a timeout. `CommitTimeoutMs` is 2 s. */
  readonly commitTimeoutMs: number;
  /** Called when it sends that answer. */
  readonly onDroppedAnswered: () => void;
}

/** Returns the refusal that precedes any effect, or null. */
export function refusalOf(context: ServerContext, metadata: Metadata): StatusError | null {
  const { credentials } = context.options;
  const leader = context.options.leader();
  if (credentials !== null) {
    const expected = `Basic ${Buffer.from(credentials).toString('base64')}`;
    if (metadata.get('authorization')[0] !== expected) return notAuthenticated();
  }
  if (leader !== null && metadata.get('requires-leader')[0] === 'true')
    return faultStatus('not-leader', leader);
  return null;
}

/**
 * Carries out an effect under a fault and calls back with the client's answer. Does not call back when the client
 * receives no answer.
 */
export function performUnder<Result>(
  context: ServerContext,
  call: Call,
  apply: () => Result,
  answer: (outcome: { readonly result: Result } | { readonly error: StatusError }) => void,
): void {
  const fault = context.faults.take(call);
  const result = applyUnder(context, fault, apply);
  const respond = (): void => {
    if (fault.answer === 'nothing') return;
    if (fault.answer === 'cut') context.cut();
    else if (!isBroken(fault)) {
      if (result !== null) answer({ result: result.value });
    } else answer({ error: faultStatus(fault.answer, leaderOf(context)) });
  };
  if (fault.delayMs === undefined) respond();
  else context.later(fault.delayMs, respond);
}

/** Returns the node that a refusal names: the leader, or this node, as right after an election that it won. */
export function leaderOf(context: ServerContext): Endpoint {
  return context.options.leader() ?? context.self();
}

function applyUnder<Result>(
  context: ServerContext,
  { apply: when = 'now' }: Fault,
  apply: () => Result,
): { readonly value: Result } | null {
  if (when === 'now') return { value: apply() };
  if (when !== 'never') context.later(when.afterMs, () => void apply());
  return null;
}

/** Tells whether the client receives an answer other than the normal one. */
export function isBroken(fault: Fault): fault is Fault & { readonly answer: Exclude<Answer, 'normal'> } {
  return fault.answer !== undefined && fault.answer !== 'normal';
}
