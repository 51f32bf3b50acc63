import streams, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { handleServerStreamingCall, ServerWritableStream } from '@grpc/grpc-js';
import { isBroken, leaderOf, refusalOf, type ServerContext, type LiveSubscription } from './context.js';
import type { Fault } from './faults.js';
import type { LogRecord } from './log.js';
import {
  eventMessage,
  streamNotFoundMessage,
  streamOf,
  checkpointMessage,
  confirmationMessage,
  filterOf,
} from './messages.js';
import { faultStatus, insideRecord, streamDeleted, consumerTooSlow } from './statuses.js';
import { randomUUID } from 'node:crypto';

const { BACKWARDS } = streams.ReadReq.Options.ReadDirection;

/** Makes the service `Read`: a stream or the whole log, forwards or backwards, or a subscription to the whole log. */
export function makeRead(context: ServerContext): handleServerStreamingCall<ReadReq, ReadResp> {
  return (call) => {
    const options = call.request.getOptions();
    if (options === undefined) {
      call.end();
      return;
    }
    const refusal = refusalOf(context, call.metadata);
    if (refusal !== null) {
      call.emit('error', refusal);
      return;
    }
    const name = options.getStream()?.getStreamIdentifier();
    const stream = name === undefined ? null : streamOf(name);
    const kind = options.hasSubscription() ? 'subscribe' : 'read';
    const direction = options.getReadDirection() === BACKWARDS ? 'backwards' : 'forwards';
    const fault = context.faults.take({ kind, stream, ...(kind === 'read' ? { direction } : {}) });
    if (fault.delayMs === undefined) answer(call, options, stream, fault);
    else {
      context.later(fault.delayMs, () => answer(call, options, stream, fault));
    }
  };

  function answer(
    call: ServerWritableStream<ReadReq, ReadResp>,
    options: ReadReq.Options,
    stream: string | null,
    fault: Fault,
  ): void {
    if (stream === null && isInsideRecord(context, options)) {
      const kind = options.hasSubscription() ? 'subscription' : 'read';
      call.emit('error', insideRecord(context.options.insideRecord, kind));
      // A stalled subscription is opened and stays silent.
    } else if (options.hasSubscription() && (!isBroken(fault) || fault.answer === 'nothing')) {
      serveSubscription(context, call, options, fault);
    } else if (stream !== null && context.log.isTombstoned(stream)) {
      call.emit('error', streamDeleted(stream));
    } else {
      void send(call, messagesOf(options, stream, fault)).then(() => {
        if (!call.cancelled) finish(call, fault);
      });
    }
  }

  /** Sends as fast as the client takes the messages, so that a client which stops a read has cost no more. */
  async function send(
    call: ServerWritableStream<ReadReq, ReadResp>,
    messages: Iterable<ReadResp>,
  ): Promise<void> {
    for (const message of messages) {
      if (call.cancelled) return;
      if (!call.write(message)) await drained(call);
    }
  }

  function messagesOf(options: ReadReq.Options, stream: string | null, fault: Fault): Iterable<ReadResp> {
    const found =
      stream === null ? recordsOfAll(context, options) : recordsOfStream(context, options, stream);
    if (found === null) return isBroken(fault) ? [] : [streamNotFoundMessage(stream ?? '')];
    const sent = isBroken(fault) ? found.slice(0, fault.afterEvents ?? 0) : found;
    const withPosition = stream === null || context.options.streamReadPositions;
    return sent.map((record) => eventMessage(record, withPosition));
  }

  function finish(call: ServerWritableStream<ReadReq, ReadResp>, fault: Fault): void {
    if (!isBroken(fault)) call.end();
    else if (fault.answer === 'cut') context.cut();
    else if (fault.answer !== 'nothing') {
      call.emit('error', faultStatus(fault.answer, leaderOf(context)));
    }
  }
}

/** Resolves when the call takes messages again, or is cancelled. */
function drained(call: ServerWritableStream<ReadReq, ReadResp>): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      call.off('drain', go);
      call.off('cancelled', go);
      resolve();
    };
    call.on('drain', go);
    call.on('cancelled', go);
  });
}

function recordsOfStream(
  { log }: ServerContext,
  options: ReadReq.Options,
  stream: string,
): readonly LogRecord[] | null {
  const records = log.visible(stream);
  if (records === null) return null;
  const from = options.getStream();
  const count = Number(options.getCount());
  const revision = from?.hasRevision() === true ? BigInt(from.getRevision()) : null;
  if (options.getReadDirection() === BACKWARDS) {
    return records
      .filter((record) => revision === null || record.revision <= revision)
      .toReversed()
      .slice(0, count);
  }
  // A read that begins among removed events begins with the first one that is left.
  return records.filter((record) => record.revision >= (revision ?? 0n)).slice(0, count);
}

/** Returns the records of a read. A forward read includes the record at its position; a backward read does not. */
function recordsOfAll({ log }: ServerContext, options: ReadReq.Options): readonly LogRecord[] {
  const { records } = log;
  const from = options.getAll();
  const count = Number(options.getCount());
  const position = BigInt(from?.getPosition()?.getCommitPosition() ?? '0');
  const index = lowerBound(records, position);
  if (options.getReadDirection() === BACKWARDS) {
    const end = from?.hasEnd() === true ? records.length : index;
    return records.slice(Math.max(0, end - count), end).toReversed();
  }
  if (from?.hasEnd() === true) return [];
  const start = from?.hasStart() === true ? 0 : index;
  return records.slice(start, start + count);
}

/** Tells whether a read of the whole log begins where no record begins, as with a position of another log. */
function isInsideRecord({ log }: ServerContext, options: ReadReq.Options): boolean {
  const position = BigInt(options.getAll()?.getPosition()?.getCommitPosition() ?? '0');
  const next = log.records[lowerBound(log.records, position)];
  return next !== undefined && next.position !== position && !log.isScavenged(position);
}

/** Returns the index of the first record at or after the position. */
function lowerBound(records: readonly LogRecord[], position: bigint): number {
  let low = 0;
  let high = records.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((records[middle]?.position ?? 0n) < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The number of records without a match after which the server sends a checkpoint (the client's default window). */
const searchWindow = 32;

/**
 * Serves a subscription: a confirmation, the records in the log, later records, and checkpoints while no record
 * matches.
 */
function serveSubscription(
  context: ServerContext,
  call: ServerWritableStream<ReadReq, ReadResp>,
  options: ReadReq.Options,
  fault: Fault,
): void {
  const { log, subscriptions } = context;
  const matches = filterOf(options);
  let next = startOf(context, options);
  let passed = 0;
  let silent = fault.answer === 'nothing';
  const stop = log.onWritten(() => {
    if (log.records.length - next > context.options.liveBufferMax) subscription.drop(consumerTooSlow());
    else pump();
  });
  const subscription: LiveSubscription = {
    drop: (error) => {
      leave();
      call.emit('error', error);
    },
    end: () => {
      leave();
      call.end();
    },
    stall: () => {
      silent = true;
    },
  };
  subscriptions.add(subscription);
  call.on('cancelled', leave);
  call.on('close', leave);
  if (silent) return;
  call.write(confirmationMessage(randomUUID()));
  pump();

  function pump(): void {
    if (silent) return;
    for (; next < log.records.length; next += 1) {
      const record = log.records[next];
      if (record === undefined) return;
      if (matches(record.stream)) {
        call.write(eventMessage(record, true));
        passed = 0;
      } else {
        passed += 1;
        if (passed % searchWindow === 0) call.write(checkpointMessage(record.position));
      }
    }
  }

  function leave(): void {
    silent = true;
    stop();
    subscriptions.delete(subscription);
  }
}

/** Returns the index of the first record to send. A subscription begins after the position that it names. */
function startOf({ log }: ServerContext, options: ReadReq.Options): number {
  const all = options.getAll();
  if (all === undefined || all.hasStart()) return 0;
  if (all.hasEnd()) return log.records.length;
  const after = BigInt(all.getPosition()?.getCommitPosition() ?? '0');
  const found = log.records.findIndex((record) => record.position > after);
  return found === -1 ? log.records.length : found;
}
