import type { Credentials } from '@eventstore/db-client';
import type { NewEvent } from '../../../event-sourcing/ports/domain-event.js';
import { StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import { openAppendCall, type AppendCall } from './append-call.js';
import type { BatchReply } from './batch-messages.js';
import type { Client } from '../client.js';
import { accessDenied } from './failures.js';
import type { LogGuard } from '../same-log/log-guard.js';

/** A revision that no stream reaches, so that the server refuses the append and writes nothing. */
const unreachableRevision = 2n ** 62n;

/** Codes of gRPC (statuscodes.md). */
const permissionDenied = 7;
const unauthenticated = 16;

/**
 * Keeps one `BatchAppend` call for all appends of the process. An append is sent only on a call that was verified after
 * it began, and a call ends with its connection. So no append reaches a log that was exchanged meanwhile, and none of
 * its answers is an acknowledgement.
 */
export function makeVerifiedCalls(
  client: Client,
  deps: {
    readonly credentials: Credentials;
    readonly guard: Pick<LogGuard, 'verify' | 'suspect'>;
    /** An append to this stream is refused for certain: it proves that the call has reached a server. */
    readonly probed: { readonly name: string; readonly makeEvent: () => NewEvent };
    readonly withinLimit: <T>(run: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  },
) {
  const { guard, probed, withinLimit } = deps;
  let current: Promise<AppendCall> | null = null;
  let closed = false;

  return {
    /** Returns a call whose connection leads to the log that this process knows. @throws when it cannot be verified */
    open: (): Promise<AppendCall> => (current ??= openVerified()),
    /** Ends the call, because nothing comes over its connection. The next append opens another one. */
    leave: () => {
      current?.then(
        (call) => call.end(new Error('the node is silent')),
        () => undefined,
      );
    },
    close: () => {
      closed = true;
    },
  };

  function openVerified(): Promise<AppendCall> {
    const forget = (): void => {
      if (current === opening) current = null;
    };
    const opening = withinLimit(async (signal) => {
      const call = await openAppendCall(client, {
        credentials: deps.credentials,
        onEnd: () => {
          forget();
          if (!closed) guard.suspect();
        },
      });
      try {
        // The call is bound to a connection only after an answer: until then the client may move it to another one.
        const probe = { name: probed.name, expected: unreachableRevision, events: [probed.makeEvent()] };
        checkProbe(await call.send(probe, signal));
        await guard.verify(signal);
        return call;
      } catch (error) {
        call.end(new Error('the call of the appends was not verified'));
        throw isRefusal(error) ? accessDenied() : error;
      }
    });
    opening.catch(forget);
    return opening;
  }
}

/** @throws when the answer shows that the server takes no appends now */
function checkProbe(reply: BatchReply): void {
  if (reply.kind === 'access-denied') throw accessDenied();
  if (reply.kind === 'unsettled') throw new StoreUnavailable(`the event store is not ready: ${reply.reason}`);
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === permissionDenied || error.code === unauthenticated;
}
