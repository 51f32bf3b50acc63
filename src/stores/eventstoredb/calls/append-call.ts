import { randomUUID } from 'node:crypto';
import type { Credentials } from '@eventstore/db-client';
import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import { decodeReply, encodeAppend, type BatchReply, type OutgoingAppend } from './batch-messages.js';
import type { BatchCall, Client } from '../client.js';
import { CallTimedOut } from './limits.js';

/** One `BatchAppend` call. It stays on one connection, so it ends when that connection is lost. */
export interface AppendCall {
  /** Sends an append. Rejects when the call ends first or the signal aborts: the outcome is then unknown. */
  send(append: OutgoingAppend, signal: AbortSignal): Promise<BatchReply>;
  /** Ends the call. The appends under way reject. */
  end(reason: Error): void;
}

interface Pending {
  readonly resolve: (reply: BatchReply) => void;
  readonly reject: (error: Error) => void;
}

/** Opens a call. `onEnd` runs once, when it has ended for any reason. */
export async function openAppendCall(
  client: Client,
  deps: { readonly credentials: Credentials; readonly onEnd: (reason: Error) => void },
): Promise<AppendCall> {
  const pending = new Map<string, Pending>();
  let answers = 0;
  let ended: Error | null = null;
  let cancel = (): void => undefined;

  const call: BatchCall = await client.openBatchCall(deps.credentials, (opened) => {
    cancel = () => opened.cancel();
    opened.on('data', answer);
    opened.on('error', end);
    for (const event of ['end', 'close'] as const) {
      opened.on(event, () => end(new Error('the server ended the call of the appends')));
    }
  });
  return { send, end };

  function send(append: OutgoingAppend, signal: AbortSignal): Promise<BatchReply> {
    return new Promise((resolve, reject) => {
      if (ended !== null) throw ended;
      signal.throwIfAborted();
      const id = randomUUID();
      const answersBefore = answers;
      const onAbort = (): void => {
        pending.delete(id);
        reject(signal.reason as Error);
        // A call without any answer in all that time may be dead while its connection seems to live.
        if (signal.reason instanceof CallTimedOut && answers === answersBefore)
          end(new Error('the call of the appends gave no answer'));
      };
      const settle = (): void => signal.removeEventListener('abort', onAbort);
      pending.set(id, {
        resolve: (reply) => {
          settle();
          resolve(reply);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      });
      signal.addEventListener('abort', onAbort, { once: true });
      call.write(encodeAppend(id, append));
    });
  }

  /** An answer to an append that was given up has no entry; the caller has reported an unknown outcome. */
  function answer(response: BatchAppendResp): void {
    answers += 1;
    client.heard();
    const id = response.getCorrelationId()?.getString() ?? '';
    const waiting = pending.get(id);
    pending.delete(id);
    waiting?.resolve(decodeReply(response));
  }

  function end(reason: Error): void {
    if (ended !== null) return;
    ended = reason;
    for (const { reject } of pending.values()) reject(reason);
    pending.clear();
    cancel();
    deps.onEnd(reason);
  }
}
