import { randomUUID } from 'node:crypto';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { LiveSubscription, ServerContext } from './context.js';
import type { Fault } from './faults.js';
import { checkpointMessage, confirmationMessage, eventMessage, filterOf } from './messages.js';
import { consumerTooSlow } from './statuses.js';

/** The number of records without a match after which the server sends a checkpoint (the client's default window). */
const searchWindow = 32;

/**
 * Serves a subscription: a confirmation, the records in the log, later records, and checkpoints while no record
 * matches.
 */
export function serveSubscription(
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
