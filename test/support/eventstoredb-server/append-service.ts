import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { AppendReq, AppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { handleClientStreamingCall } from '@grpc/grpc-js';
import { performUnder, refusalOf, type ServerContext } from './context.js';
import type { Expected, ProposedEvent, Verdict } from './log.js';
import { expectedOfAppend, proposedOf, streamOf } from './messages.js';
import { streamDeleted, tooLarge, type StatusError } from './statuses.js';

/** `Append`: one call, one append. */
export function makeAppend(context: ServerContext): handleClientStreamingCall<AppendReq, AppendResp> {
  return (call, callback) => {
    let stream = '';
    let expected: Expected = 'any';
    const events: ProposedEvent[] = [];
    call.on('data', (request: AppendReq) => {
      const options = request.getOptions();
      const message = request.getProposedMessage();
      if (options !== undefined) {
        stream = streamOf(options.getStreamIdentifier());
        expected = expectedOfAppend(options);
      } else if (message !== undefined) {
        events.push(proposedOf(message));
      }
    });
    call.on('end', () => {
      // grpc-js ends a broken request like a whole one and marks it as cancelled a moment later. A server that did not
      // wait for that would write half of an append.
      setImmediate(() => {
        if (!call.cancelled) finish();
      });
    });

    function finish(): void {
      const refusal = refusalOf(context, call.metadata);
      if (refusal !== null) {
        callback(refusal);
        return;
      }
      performUnder(
        context,
        { kind: 'append', stream },
        () => context.log.append(stream, expected, events),
        (outcome) => {
          if ('error' in outcome) callback(outcome.error);
          else reply(outcome.result, stream, expected, callback);
        },
      );
    }
  };
}

function reply(
  verdict: Verdict,
  stream: string,
  expected: Expected,
  callback: (error: StatusError | null, response?: AppendResp) => void,
): void {
  switch (verdict.kind) {
    case 'too-large':
      callback(tooLarge());
      return;
    case 'deleted':
      callback(streamDeleted(stream));
      return;
    case 'written':
      callback(null, written(verdict));
      return;
    case 'wrong-expected-version':
      callback(null, wrongExpectedVersion(expected, verdict.current));
  }
}

function written({ revision, position }: { revision: bigint; position: bigint }): AppendResp {
  return new streams.AppendResp().setSuccess(
    new streams.AppendResp.Success()
      .setCurrentRevision(String(revision))
      .setPosition(
        new streams.AppendResp.Position()
          .setCommitPosition(String(position))
          .setPreparePosition(String(position)),
      ),
  );
}

function wrongExpectedVersion(expected: Expected, current: bigint | null): AppendResp {
  const message = new streams.AppendResp.WrongExpectedVersion();
  if (current === null) message.setCurrentNoStream(new shared.Empty());
  else message.setCurrentRevision(String(current));
  if (typeof expected === 'bigint') message.setExpectedRevision(String(expected));
  else if (expected === 'no-stream') message.setExpectedNoStream(new shared.Empty());
  else message.setExpectedStreamExists(new shared.Empty());
  return new streams.AppendResp().setWrongExpectedVersion(message);
}
