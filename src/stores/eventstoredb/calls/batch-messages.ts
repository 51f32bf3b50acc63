import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import protobufEmpty from 'google-protobuf/google/protobuf/empty_pb.js';
import type { NewEvent, Position } from '../../../event-sourcing/ports/domain-event.js';
import type { ExpectedRevision } from '../../../event-sourcing/ports/event-store.js';
import { knownPosition } from '../same-log/positions.js';

/** An append with the stream's full name. */
export interface OutgoingAppend {
  readonly name: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly NewEvent[];
}

/** The server's answer to one append. Only `unsettled` leaves open whether the events were or will be written. */
export type BatchReply =
  | {
      readonly kind: 'written';
      readonly revision: bigint;
      /** Null when the server does not give it, as before 22.6 for a repeated append. */
      readonly position: Position | null;
    }
  | { readonly kind: 'wrong-expected-revision' }
  | { readonly kind: 'deleted' }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'access-denied' }
  | { readonly kind: 'unsettled'; readonly reason: string };

/**
 * Encodes an append as one message: its size is bounded by `maxAppendBytes`. It names no deadline, because 21.10 compares
 * the client's clock with its own, and has its own limits.
 */
export function encodeAppend(
  correlationId: string,
  { name, expected, events }: OutgoingAppend,
): BatchAppendReq {
  const options = new streams.BatchAppendReq.Options().setStreamIdentifier(
    new shared.StreamIdentifier().setStreamName(Buffer.from(name)),
  );
  if (expected === 'no-stream') options.setNoStream(new protobufEmpty.Empty());
  else options.setStreamPosition(String(expected));
  return new streams.BatchAppendReq()
    .setCorrelationId(new shared.UUID().setString(correlationId))
    .setOptions(options)
    .setProposedMessagesList(events.map(proposed))
    .setIsFinal(true);
}

function proposed({ id, type, data, metadata }: NewEvent): BatchAppendReq.ProposedMessage {
  const message = new streams.BatchAppendReq.ProposedMessage()
    .setId(new shared.UUID().setString(id))
    .setData(Buffer.from(JSON.stringify(data)))
    .setCustomMetadata(Buffer.from(JSON.stringify(metadata)));
  message.getMetadataMap().set('type', type).set('content-type', 'application/json');
  return message;
}

/** The verdicts of the server, by the type of their details (`Status` in Streams.BatchAppend.cs). */
const verdicts: ReadonlyMap<string, Exclude<BatchReply['kind'], 'written' | 'unsettled'>> = new Map([
  ['event_store.client.WrongExpectedVersion', 'wrong-expected-revision'],
  ['event_store.client.StreamDeleted', 'deleted'],
  ['event_store.client.MaximumAppendSizeExceeded', 'too-large'],
  ['event_store.client.MaximumAppendEventSizeExceeded', 'too-large'],
  ['event_store.client.AccessDenied', 'access-denied'],
]);

/** Decodes an answer. A status that it does not know is unsettled. */
export function decodeReply(response: BatchAppendResp): BatchReply {
  const success = response.getSuccess();
  if (success !== undefined) {
    const position = success.getPosition();
    return {
      kind: 'written',
      revision: BigInt(success.getCurrentRevision()),
      position: knownPosition(
        position && {
          commit: BigInt(position.getCommitPosition()),
          prepare: BigInt(position.getPreparePosition()),
        },
      ),
    };
  }
  const error = response.getError();
  const type = error?.getDetails()?.getTypeName() ?? '';
  const kind = verdicts.get(type);
  return kind === undefined
    ? { kind: 'unsettled', reason: [type, error?.getMessage()].filter(Boolean).join(': ') }
    : { kind };
}
