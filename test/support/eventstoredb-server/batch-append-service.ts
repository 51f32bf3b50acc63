import codes from '@eventstore/db-client/generated/code_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import statuses from '@eventstore/db-client/generated/status_pb.js';
import type { Status } from '@eventstore/db-client/generated/status_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { handleBidiStreamingCall } from '@grpc/grpc-js';
import protobufAny from 'google-protobuf/google/protobuf/any_pb.js';
import protobufEmpty from 'google-protobuf/google/protobuf/empty_pb.js';
import { performUnder, refusalOf, type ServerContext } from './context.js';
import { maxAppendSize, type Expected, type ProposedEvent, type Verdict } from './log.js';
import { expectedOfBatch, identifierOf, proposedOf, streamOf } from './messages.js';

interface Batch {
  readonly stream: string;
  readonly expected: Expected;
  readonly events: ProposedEvent[];
}

/** `BatchAppend`: one call for the life of a client, many appends, each with its correlation id. */
export function makeBatchAppend(
  context: ServerContext,
): handleBidiStreamingCall<BatchAppendReq, BatchAppendResp> {
  return (call) => {
    const batches = new Map<string, Batch>();
    const refusal = refusalOf(context, call.metadata);
    if (refusal !== null) {
      call.emit('error', refusal);
      return;
    }
    call.on('end', () => {
      call.end();
    });
    call.on('data', (request: BatchAppendReq) => {
      const id = request.getCorrelationId()?.getString() ?? '';
      const batch = batches.get(id) ?? begin(request);
      batches.set(id, batch);
      batch.events.push(...request.getProposedMessagesList().map(proposedOf));
      if (!request.getIsFinal()) return;
      batches.delete(id);
      performUnder(
        context,
        { kind: 'batch-append', stream: batch.stream },
        () => context.log.append(batch.stream, batch.expected, batch.events),
        (outcome) => {
          if ('error' in outcome) call.emit('error', outcome.error);
          else call.write(reply(id, batch, outcome.result));
        },
      );
    });
  };
}

function begin(request: BatchAppendReq): Batch {
  const options = request.getOptions() ?? new streams.BatchAppendReq.Options();
  return { stream: streamOf(options.getStreamIdentifier()), expected: expectedOfBatch(options), events: [] };
}

function reply(correlationId: string, batch: Batch, verdict: Verdict): BatchAppendResp {
  const response = new streams.BatchAppendResp()
    .setCorrelationId(new shared.UUID().setString(correlationId))
    .setStreamIdentifier(identifierOf(batch.stream));
  switch (verdict.kind) {
    case 'written':
      return response.setSuccess(
        new streams.BatchAppendResp.Success()
          .setCurrentRevision(String(verdict.revision))
          .setPosition(
            new shared.AllStreamPosition()
              .setCommitPosition(String(verdict.position))
              .setPreparePosition(String(verdict.position)),
          ),
      );
    case 'wrong-expected-version':
      return response.setError(wrongExpectedVersion(batch.expected, verdict.current));
    case 'too-large':
      return response.setError(
        rpcStatus(
          new shared.MaximumAppendSizeExceeded().setMaxappendsize(maxAppendSize),
          'MaximumAppendSizeExceeded',
        ),
      );
    case 'deleted':
      return response.setError(
        rpcStatus(
          new shared.StreamDeleted().setStreamIdentifier(identifierOf(batch.stream)),
          'StreamDeleted',
        ),
      );
  }
}

function wrongExpectedVersion(expected: Expected, current: bigint | null): Status {
  const details = new shared.WrongExpectedVersion();
  if (current === null) details.setCurrentNoStream(new protobufEmpty.Empty());
  else details.setCurrentStreamRevision(String(current));
  if (typeof expected === 'bigint') details.setExpectedStreamPosition(String(expected));
  else details.setExpectedNoStream(new protobufEmpty.Empty());
  return rpcStatus(details, 'WrongExpectedVersion');
}

function rpcStatus(details: { serializeBinary(): Uint8Array }, name: string): Status {
  const any = new protobufAny.Any();
  any.pack(details.serializeBinary(), `event_store.client.${name}`);
  return new statuses.Status().setCode(codes.Code.UNKNOWN).setMessage(name).setDetails(any);
}
