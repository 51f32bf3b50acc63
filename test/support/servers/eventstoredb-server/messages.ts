import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { StreamIdentifier } from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { BatchAppendReq, ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { Expected, LogRecord, ProposedEvent } from './log.js';

/** The value that servers before 22.6 send for an unknown position: `Position.End`. */
const noPosition = String(2n ** 64n - 1n);

export function streamOf(identifier: StreamIdentifier | undefined): string {
  return Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8');
}

export function identifierOf(stream: string): StreamIdentifier {
  return new shared.StreamIdentifier().setStreamName(Uint8Array.from(Buffer.from(stream, 'utf8')));
}

export function proposedOf(message: BatchAppendReq.ProposedMessage): ProposedEvent {
  const map = message.getMetadataMap();
  return {
    id: message.getId()?.getString() ?? '',
    type: map.get('type') ?? '',
    contentType: map.get('content-type') ?? '',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
}

export function expectedOfBatch(options: BatchAppendReq.Options): Expected {
  if (options.hasNoStream()) return 'no-stream';
  if (options.hasAny()) return 'any';
  if (options.hasStreamExists()) return 'stream-exists';
  return BigInt(options.getStreamPosition());
}

/** Makes an event of a reply. Reads of one stream have positions only from server version 22.6 on. */
export function eventMessage(record: LogRecord, withPosition: boolean): ReadResp {
  const position = withPosition ? String(record.position) : noPosition;
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString(record.id))
    .setStreamIdentifier(identifierOf(record.stream))
    .setStreamRevision(String(record.revision))
    .setCommitPosition(position)
    .setPreparePosition(position)
    .setData(record.data)
    .setCustomMetadata(record.metadata);
  recorded
    .getMetadataMap()
    .set('type', record.type)
    .set('content-type', record.contentType)
    // The unit is .NET ticks of 100 ns since the Unix epoch.
    .set('created', String(BigInt(record.createdMs) * 10_000n));
  const event = new streams.ReadResp.ReadEvent().setEvent(recorded);
  if (withPosition) event.setCommitPosition(position);
  else event.setNoPosition(new shared.Empty());
  return new streams.ReadResp().setEvent(event);
}

export function confirmationMessage(subscriptionId: string): ReadResp {
  return new streams.ReadResp().setConfirmation(
    new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(subscriptionId),
  );
}

export function checkpointMessage(position: bigint): ReadResp {
  return new streams.ReadResp().setCheckpoint(
    new streams.ReadResp.Checkpoint()
      .setCommitPosition(String(position))
      .setPreparePosition(String(position)),
  );
}

export function streamNotFoundMessage(stream: string): ReadResp {
  return new streams.ReadResp().setStreamNotFound(
    new streams.ReadResp.StreamNotFound().setStreamIdentifier(identifierOf(stream)),
  );
}

/** Returns the filter of a subscription by stream name. The adapter does not use filters by event type. */
export function filterOf(options: ReadReq.Options): (stream: string) => boolean {
  const expression = options.getFilter()?.getStreamIdentifier();
  if (expression === undefined) return () => true;
  const prefixes = expression.getPrefixList();
  return (stream) => prefixes.some((prefix) => stream.startsWith(prefix));
}
