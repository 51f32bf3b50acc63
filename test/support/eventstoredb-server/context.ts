import type { Metadata } from '@grpc/grpc-js';
import type { Answer, Call, Fault, Faults } from './faults.js';
import type { ServerLog } from './log.js';
import { faultStatus, notAuthenticated, type Endpoint, type StatusError } from './statuses.js';

/** What the services of one server share. */
export interface ServerContext {
  readonly log: ServerLog;
  readonly faults: Faults;
  readonly subscriptions: Set<LiveSubscription>;
  readonly options: ServerOptions;
  /** Where clients reach this node. */
  self(): Endpoint;
  /** Breaks the connections of all clients. */
  cut(): void;
  /** Does something later, unless the server has been closed by then. */
  later(ms: number, action: () => void): void;
}

/** A subscription to the whole log that a client holds open. */
export interface LiveSubscription {
  /** Ends it with a status, as a server does that goes away or drops a slow consumer. */
  drop(error: StatusError): void;
  /** Ends it without a word. */
  end(): void;
  /** Leaves it open and sends nothing any more. */
  stall(): void;
}

export interface ServerOptions {
  /** On a follower: where it sends whoever asks for the leader. Null on the leader. */
  readonly leader: () => Endpoint | null;
  /** `user:password` that every call must carry, null where everybody may do everything. */
  readonly credentials: string | null;
  /** Whether reads of one stream tell positions: servers from 22.6 on do. */
  readonly streamReadPositions: boolean;
  /** An append of more events than this drops live subscriptions: 32 on 21.10. */
  readonly liveBufferMax: number;
}

/** The refusal that comes before any effect, or null. */
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
 * Carries an effect out as the fault says and calls back with what the client shall hear; does not call back
 * where the client hears nothing.
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

/** Whom a refusal names: the leader, or this very node, as right after an election that it won. */
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

/** Whether the client hears something else than the answer. */
export function isBroken(fault: Fault): fault is Fault & { readonly answer: Exclude<Answer, 'normal'> } {
  return fault.answer !== undefined && fault.answer !== 'normal';
}
