import codes from '@eventstore/db-client/generated/code_pb.js';
import shared, { type Empty } from '@eventstore/db-client/generated/shared_pb.js';
import statuses, { type Status } from '@eventstore/db-client/generated/status_pb.js';
import streams, {
  type BatchAppendReq,
  type BatchAppendResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import type { handleBidiStreamingCall, handleUnaryCall } from '@grpc/grpc-js';
import protobufAny from 'google-protobuf/google/protobuf/any_pb.js';
import protobufEmpty from 'google-protobuf/google/protobuf/empty_pb.js';
import { performUnder, refusalOf, type ServerContext } from './context.js';
import { maxAppendSize, type Expected, type ProposedEvent, type Verdict } from './log.js';
import { expectedOfBatch, identifierOf, proposedOf, streamOf } from './messages.js';
import type { StatusError, Endpoint } from './statuses.js';
import gossip, { type ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import features, { type SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';

interface Batch {
  readonly stream: string;
  readonly expected: Expected;
  readonly events: ProposedEvent[];
}

/**
 * Makes the service `BatchAppend`: one call for the life of a client, with many appends that each have a correlation
 * id.
 */
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
    call.on('end', () => call.end());
    call.on('data', (request: BatchAppendReq) => {
      const id = request.getCorrelationId()?.getString() ?? '';
      const batch = batches.get(id) ?? begin(request);
      batches.set(id, batch);
      batch.events.push(...request.getProposedMessagesList().map(proposedOf));
      if (!request.getIsFinal()) return;
      batches.delete(id);
      // A node that an election has deposed names the new leader, and ends the call.
      const deposed = refusalOf(context, call.metadata);
      if (deposed !== null) {
        call.emit('error', deposed);
        return;
      }
      performUnder(
        context,
        { kind: isProbe(batch) ? 'probe' : 'append', stream: batch.stream },
        () => write(batch),
        (outcome) => {
          if ('error' in outcome) fail(id, batch, outcome.error);
          else {
            const { afterMs, verdict } = outcome.result;
            context.later(afterMs, () => {
              call.write(reply(id, batch, verdict));
              if (verdict.kind === 'dropped') context.options.onDroppedAnswered();
            });
          }
        },
      );
    });

    /** Most statuses concern one append. Those of the connection and of the leader end the call (Streams.BatchAppend.cs). */
    function fail(id: string, batch: Batch, error: StatusError): void {
      const name = statusNames.get(error.details);
      if (name === undefined) call.emit('error', error);
      else call.write(replyTo(id, batch).setError(name()));
    }
  };

  function write(batch: Batch): {
    readonly verdict: Verdict | { readonly kind: 'dropped' };
    readonly afterMs: number;
  } {
    const { indexingMs, commitTimeoutMs } = context.options;
    const verdict = context.log.append(batch.stream, batch.expected, batch.events);
    if (verdict.kind !== 'written') return { verdict, afterMs: 0 };
    if (verdict.repeated) {
      // `IdempotentNotReady` in StorageWriterService.cs.
      if (context.indexing.has(batch.stream))
        return { verdict: { kind: 'dropped' }, afterMs: commitTimeoutMs };
      return { verdict, afterMs: 0 };
    }
    context.indexing.add(batch.stream);
    context.later(indexingMs, () => context.indexing.delete(batch.stream));
    return { verdict, afterMs: indexingMs };
  }
}

function isProbe({ expected }: Batch): boolean {
  return typeof expected === 'bigint' && expected >= 2n ** 62n;
}

/** The statuses of single appends, by the text that the fault has as a status of a call. */
const statusNames: ReadonlyMap<string, () => Status> = new Map([
  ['Operation timed out: CommitTimeout', timedOut],
  [
    'Server Is Not Ready',
    () => rpcStatus(new protobufEmpty.Empty(), 'google.protobuf.Empty', 'Server Is Not Ready'),
  ],
  [
    'Exception was thrown by handler.',
    () => rpcStatus(new shared.Unknown(), 'event_store.client.Unknown', ''),
  ],
  [
    'Access Denied',
    () => rpcStatus(new shared.AccessDenied(), 'event_store.client.AccessDenied', 'Access Denied'),
  ],
]);

function timedOut(): Status {
  return rpcStatus(new shared.Timeout(), 'event_store.client.Timeout', 'Timeout');
}

function begin(request: BatchAppendReq): Batch {
  const options = request.getOptions() ?? new streams.BatchAppendReq.Options();
  return { stream: streamOf(options.getStreamIdentifier()), expected: expectedOfBatch(options), events: [] };
}

function replyTo(correlationId: string, batch: Batch): BatchAppendResp {
  return new streams.BatchAppendResp()
    .setCorrelationId(new shared.UUID().setString(correlationId))
    .setStreamIdentifier(identifierOf(batch.stream));
}

function reply(
  correlationId: string,
  batch: Batch,
  verdict: Verdict | { readonly kind: 'dropped' },
): BatchAppendResp {
  const response = replyTo(correlationId, batch);
  switch (verdict.kind) {
    case 'dropped':
      return response.setError(timedOut());
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
          'event_store.client.MaximumAppendSizeExceeded',
          'Maximum Append Size Exceeded',
        ),
      );
    case 'deleted':
      return response.setError(
        rpcStatus(
          new shared.StreamDeleted().setStreamIdentifier(identifierOf(batch.stream)),
          'event_store.client.StreamDeleted',
          'Stream deleted',
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
  return rpcStatus(details, 'event_store.client.WrongExpectedVersion', 'WrongExpectedVersion');
}

function rpcStatus(details: { serializeBinary(): Uint8Array }, type: string, message: string): Status {
  const any = new protobufAny.Any();
  any.pack(details.serializeBinary(), type);
  return new statuses.Status().setCode(codes.Code.UNKNOWN).setMessage(message).setDetails(any);
}

/** A node of the cluster as gossip describes it. */
export interface Member extends Endpoint {
  readonly state: 'leader' | 'follower' | 'unknown';
  readonly alive: boolean;
}

const { LEADER, FOLLOWER, UNKNOWN } = gossip.MemberInfo.VNodeState;
const states = { leader: LEADER, follower: FOLLOWER, unknown: UNKNOWN };

/** Makes the service `Gossip.Read`, which returns the members of the cluster. */
export function makeGossip(
  context: ServerContext,
  members: () => readonly Member[],
): handleUnaryCall<Empty, ClusterInfo> {
  return (_call, callback) => {
    performUnder(
      context,
      { kind: 'gossip', stream: null },
      () => new gossip.ClusterInfo().setMembersList(members().map(memberMessage)),
      (outcome) => {
        if ('error' in outcome) callback(outcome.error);
        else callback(null, outcome.result);
      },
    );
  };
}

function memberMessage(member: Member) {
  return new gossip.MemberInfo()
    .setInstanceId(new shared.UUID().setString('00000000-0000-4000-8000-000000000000'))
    .setTimeStamp('0')
    .setState(states[member.state])
    .setIsAlive(member.alive)
    .setHttpEndPoint(new gossip.EndPoint().setAddress(member.host).setPort(member.port));
}

/** Makes the service `ServerFeatures.GetSupportedMethods`. Without it the client does not use `BatchAppend`. */
export function makeServerFeatures(context: ServerContext): handleUnaryCall<Empty, SupportedMethods> {
  return (_call, callback) => {
    performUnder(
      context,
      { kind: 'features', stream: null },
      () =>
        new features.SupportedMethods()
          .setEventStoreServerVersion(context.options.version)
          .setMethodsList(
            ['Read', 'Append', 'BatchAppend'].map((name) =>
              new features.SupportedMethod()
                .setServiceName('event_store.client.streams.Streams')
                .setMethodName(name),
            ),
          ),
      (outcome) => {
        if ('error' in outcome) callback(outcome.error);
        else callback(null, outcome.result);
      },
    );
  };
}
