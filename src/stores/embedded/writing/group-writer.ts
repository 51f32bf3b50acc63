import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { OutcomeUnknown, StoreDamaged, StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import { packageFile } from '../../../package-files.js';
import { type FileFailure, errorOf } from '../files/failures.js';
import type { Fault, TransactionOutcome } from './transactions.js';

/** A file that the writer thread should open. */
export interface FileToWrite {
  readonly name: 'events' | 'read-models' | 'state';
  readonly path: string;
  readonly newLogId: string;
  /** Tests only: the number of 4 KiB pages after which the disk counts as full. */
  readonly pageCountMax?: number;
  readonly faults: readonly Fault[];
}

/** A message to the writer thread: the file, and the port for its messages. */
export interface FileAndPort {
  readonly file: FileToWrite;
  readonly port: MessagePort;
}

/** A message about an open file. Requests are tuples of strings and numbers, because these cost least to send. */
export type ToThread<Request> =
  { readonly kind: 'piece'; readonly requests: readonly Request[] } | { readonly kind: 'close' };

export type FromThread<Reply> =
  | { readonly kind: 'opened' }
  | { readonly kind: 'refused'; readonly failure: FileFailure }
  | TransactionOutcome<Reply>;

/** The main thread's side of a file that the writer thread writes. */
export interface GroupWriter<Request, Reply> {
  /** Resolves after the commit. `bytes` is approximate. @throws StoreUnavailable, OutcomeUnknown, StoreDamaged */
  write(request: Request, bytes: number): Promise<Reply>;
  /** @throws StoreUnavailable, StoreDamaged when the writer gave the file up or is closed */
  assertUsable(): void;
  /** Returns for how long the oldest write has waited for its commit, in milliseconds, also after its time limit; 0 without one. */
  waitedMs(): number;
  /** Ends the use of the file as a failed write does: the writer writes nothing any more and calls `onFatal`. */
  giveUp(error: Error): void;
  /** Waits for the thread to end its last write, however long the disk takes. */
  close(): Promise<void>;
}

export interface GroupWriterOptions<Request, Reply> {
  /** The writer thread of the data directory. Who started it ends it, when its files are closed. */
  readonly thread: Worker;
  readonly file: FileToWrite;
  /** The time limit of a write, including its wait in the queue, in milliseconds. */
  readonly limitMs: number;
  /**
   * Receives every committed batch, and every batch with an unknown outcome (`replies` is null), before the promises of
   * its requests settle. It also receives a batch that ends after its time limit.
   */
  readonly onSettled: (requests: readonly Request[], replies: readonly Reply[] | null) => void;
  /** Receives one error, when the writer cannot write any more and the process should end. */
  readonly onFatal: (error: Error) => void;
}

interface Pending<Request, Reply> {
  readonly request: Request;
  readonly bytes: number;
  readonly askedMs: number;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

/** The limits of a batch and of the queue. */
const batchMax = { requests: 1_000, bytes: 8 * 1024 * 1024 };
/** The number of requests in a piece of a batch. The thread writes the first piece while callers still add requests. */
const pieceRequests = 16;
const waitingMax = { requests: 20_000, bytes: 64 * 1024 * 1024 };

/** Starts the thread that writes the files of a data directory. It keeps no process alive. */
export function startWriterThread(): Worker {
  const thread = new Worker(packageFile('dist/writer-thread.js'));
  thread.unref();
  return thread;
}

/** Lets the thread end itself after its last call: libsql ends the process when its thread is terminated within one. */
export async function endWriterThread(thread: Worker): Promise<void> {
  // A thread that has ended has no number.
  if (thread.threadId === -1) return;
  const exited = new Promise((resolve) => thread.once('exit', resolve));
  thread.ref();
  thread.postMessage(null);
  await exited;
}

/**
 * Opens a file in the writer thread. The requests of a few turns of the event loop are a batch. Requests that
 * arrive during a commit form the next, so many writers share one sync (group commit). @throws StoreDamaged, StoreUnavailable
 */
export async function openGroupWriter<Request, Reply>(
  options: GroupWriterOptions<Request, Reply>,
): Promise<GroupWriter<Request, Reply>> {
  const { thread, file, limitMs, onSettled, onFatal } = options;
  const { port1: port, port2: portOfThread } = new MessageChannel();
  const closed = new Promise<void>((resolve) => port.once('close', resolve));
  const opening: FileAndPort = { file, port: portOfThread };
  thread.postMessage(opening, [portOfThread]);
  await opened(thread, port);

  let waiting: Pending<Request, Reply>[] = [];
  let waitingBytes = 0;
  /** The requests that the thread received and has not answered, in order. */
  let inFlight: Pending<Request, Reply>[] = [];
  let inFlightBytes = 0;
  /** `scheduled`: a turn of the event loop ends with a send soon. `gathering`: the batch in flight began in this turn. */
  let [scheduled, gathering] = [false, false];
  let watch: NodeJS.Timeout | null = null;
  let unusable: Error | null = null;
  let closing: Promise<void> | null = null;
  let onIdle: (() => void) | null = null;

  port.on('message', receive);
  thread.on('error', onEnded);
  thread.on('exit', onEnded);
  // An open file must not keep the process alive. This call comes last: adding a message listener undoes `unref`.
  port.unref();
  return { write, assertUsable, waitedMs, giveUp, close };

  function write(request: Request, bytes: number): Promise<Reply> {
    return new Promise((resolve, reject) => {
      assertUsable();
      if (waiting.length >= waitingMax.requests || waitingBytes + bytes > waitingMax.bytes) {
        throw new StoreUnavailable(`too many writes wait for ${file.name}`);
      }
      waiting.push({ request, bytes, askedMs: performance.now(), resolve, reject });
      waitingBytes += bytes;
      watch ??= setInterval(expire, Math.max(5, limitMs / 20));
      schedule();
    });
  }

  function assertUsable(): void {
    if (closing !== null) throw new StoreUnavailable(`${file.name} is closed`);
    if (unusable instanceof StoreDamaged) throw unusable;
    if (unusable !== null) throw new StoreUnavailable(unusable.message, { cause: unusable });
  }

  function waitedMs(): number {
    const [oldest] = inFlight.length > 0 ? inFlight : waiting;
    return oldest === undefined ? 0 : performance.now() - oldest.askedMs;
  }

  /**
   * Sends full pieces at once, the rest at the end of this turn, when all running callers have added requests. Where several came,
   * it waits as long as each further turn brings more, since those of other requests are near. A request alone never waits.
   */
  function schedule(): void {
    if (inFlight.length > 0 && !gathering) return;
    if (waiting.length >= pieceRequests) {
      gathering = true;
      send();
    }
    if (scheduled) return;
    scheduled = true;
    let known = 1;
    const endOfTurn = (): void => {
      if (!gathering && waiting.length > known) {
        known = waiting.length;
        setImmediate(endOfTurn);
        return;
      }
      scheduled = false;
      if (inFlight.length === 0 || gathering) send();
      gathering = false;
    };
    setImmediate(endOfTurn);
  }

  function send(): void {
    if (unusable !== null) return;
    let count = 0;
    for (const { bytes } of waiting) {
      const full = inFlight.length + count >= batchMax.requests || inFlightBytes + bytes > batchMax.bytes;
      if (full && inFlight.length + count > 0) break;
      count += 1;
      inFlightBytes += bytes;
      waitingBytes -= bytes;
    }
    if (count === 0) return;
    const piece = waiting.splice(0, count);
    inFlight.push(...piece);
    post({ kind: 'piece', requests: piece.map(({ request }) => request) });
  }

  function receive(message: FromThread<Reply>): void {
    if (message.kind !== 'committed' && message.kind !== 'failed') return;
    const settled = inFlight.splice(0, message.count);
    for (const { bytes } of settled) inFlightBytes -= bytes;
    const requests = settled.map(({ request }) => request);
    if (message.kind === 'committed') {
      const { replies } = message;
      onSettled(requests, replies);
      for (const [index, { resolve }] of settled.entries()) resolve(replies[index] as Reply);
    } else {
      const { failure } = message;
      const error = errorOf(failure);
      if (failure.kind === 'unknown') onSettled(requests, null);
      for (const { reject } of settled) reject(error);
      if (failure.kind === 'io' || failure.kind === 'damaged') giveUp(error);
    }
    if (inFlight.length > 0) return;
    if (waiting.length > 0) schedule();
    else settle();
  }

  /** Rejects the requests whose time is over. A sent request may still be written; a queued one will not be. */
  function expire(): void {
    const cutoffMs = performance.now() - limitMs;
    for (const { askedMs, reject } of inFlight) {
      if (askedMs < cutoffMs) reject(new OutcomeUnknown(`${file.name} did not answer within ${limitMs} ms`));
    }
    const expired = waiting.findIndex(({ askedMs }) => askedMs >= cutoffMs);
    for (const { bytes, reject } of waiting.splice(0, expired === -1 ? waiting.length : expired)) {
      waitingBytes -= bytes;
      reject(new StoreUnavailable(`${file.name} did not start the write within ${limitMs} ms`));
    }
    if (inFlight.length === 0 && waiting.length === 0) settle();
  }

  /** Stops the timer of the limits and resumes a waiting `close`, because no request is pending. */
  function settle(): void {
    if (watch !== null) clearInterval(watch);
    watch = null;
    onIdle?.();
  }

  /** `cause` is the error that ended the thread. The exit code that follows it changes nothing. */
  function onEnded(cause: unknown): void {
    giveUp(new OutcomeUnknown(`the thread that writes ${file.name} ended`, { cause }));
  }

  function giveUp(error: Error): void {
    if (unusable !== null) return;
    unusable = error;
    const unknown = new OutcomeUnknown(error.message, { cause: error });
    for (const { reject } of inFlight) reject(unknown);
    for (const { reject } of waiting) reject(new StoreUnavailable(error.message, { cause: error }));
    inFlight = [];
    waiting = [];
    settle();
    onFatal(error);
  }

  function close(): Promise<void> {
    closing ??= (async () => {
      if (inFlight.length > 0 || waiting.length > 0) await new Promise<void>((resolve) => (onIdle = resolve));
      thread.off('error', onEnded).off('exit', onEnded);
      // A file whose disk failed is not accessed again, not even for a checkpoint.
      if (unusable !== null) return;
      port.ref();
      post({ kind: 'close' });
      await closed;
    })();
    return closing;
  }

  function post(message: ToThread<Request>): void {
    port.postMessage(message);
  }
}

/** Resolves when the thread has opened the file. @throws StoreDamaged, StoreUnavailable when it cannot */
function opened(thread: Worker, port: MessagePort): Promise<void> {
  return new Promise((resolve, reject) => {
    thread.once('error', reject);
    port.once('message', (message: FromThread<unknown>) => {
      thread.off('error', reject);
      if (message.kind === 'refused') reject(errorOf(message.failure));
      else resolve();
    });
  });
}
