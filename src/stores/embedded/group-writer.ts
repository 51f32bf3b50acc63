import { Worker } from 'node:worker_threads';
import { OutcomeUnknown, StoreDamaged, StoreUnavailable } from '../../event-sourcing/errors.js';
import { errorOf } from './failures.js';
import type { FromThread, ThreadData, ToThread } from './thread-messages.js';

/** The main thread's side of a file's writing thread. */
export interface GroupWriter<Request, Reply> {
  /**
   * Writes, in one transaction with whatever else is asked for meanwhile; resolves once it is committed.
   * @param bytes about how much memory the request takes
   * @throws StoreUnavailable, OutcomeUnknown, StoreDamaged
   */
  write(request: Request, bytes: number): Promise<Reply>;
  /** @throws StoreUnavailable, StoreDamaged when the file was given up or closed */
  assertUsable(): void;
  /** Ends the use of the file, as a failure of its own would: nothing is written any more, and `onFatal` hears of it. */
  giveUp(error: Error): void;
  close(): Promise<void>;
}

export interface GroupWriterOptions<Request, Reply> {
  readonly thread: ThreadData;
  /** How long a write may take in all, waiting included (milliseconds). */
  readonly limitMs: number;
  /**
   * Told of every batch that was committed, or failed and may be there all the same (`replies` null), before those
   * who asked are; also of one that ends after its time.
   */
  readonly onSettled: (requests: readonly Request[], replies: readonly Reply[] | null) => void;
  /** Told once, when nothing can be written any more and the process should end. */
  readonly onFatal: (error: Error) => void;
}

interface Pending<Request, Reply> {
  readonly request: Request;
  readonly bytes: number;
  readonly askedMs: number;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

/** A batch takes at most so much, and so much may wait for its turn. */
const batchMax = { requests: 1_000, bytes: 8 * 1024 * 1024 };
/** A batch is sent in pieces of so many requests: the thread writes the first while callers still ask for the others. */
const pieceRequests = 16;
const waitingMax = { requests: 20_000, bytes: 64 * 1024 * 1024 };

/**
 * Starts the writing thread of a file and opens the file in it. What is asked for in one turn of the event loop is a
 * batch. While it is being committed, what is asked for is collected and becomes the next one: many writers share one
 * sync (group commit).
 * @throws StoreDamaged, StoreUnavailable when the file cannot be opened
 */
export async function startGroupWriter<Request, Reply>(
  options: GroupWriterOptions<Request, Reply>,
): Promise<GroupWriter<Request, Reply>> {
  const { thread, limitMs, onSettled, onFatal } = options;
  const worker = new Worker(new URL('./writer-thread.js', import.meta.url), { workerData: thread });
  const exited = new Promise<void>((resolve) => worker.once('exit', resolve));
  await opened(worker);

  let waiting: Pending<Request, Reply>[] = [];
  let waitingBytes = 0;
  /** What the thread has been sent and has not answered, in order. */
  let inFlight: Pending<Request, Reply>[] = [];
  let inFlightBytes = 0;
  /** Whether this turn of the event loop ends with sending, and whether the batch in flight was begun in it. */
  let [scheduled, gathering] = [false, false];
  let watch: NodeJS.Timeout | null = null;
  let unusable: Error | null = null;
  let closing: Promise<void> | null = null;
  let onIdle: (() => void) | null = null;

  worker.on('message', receive);
  worker.on('error', (error) => {
    giveUp(new OutcomeUnknown(`the thread that writes ${thread.file} ended`, { cause: error }));
  });
  worker.on('exit', () => {
    if (closing === null) giveUp(new OutcomeUnknown(`the thread that writes ${thread.file} ended`));
  });
  // What is asked for keeps the process alive by the clock of its limit; an idle thread need not. (Listening to
  // messages undoes this, so it comes last.)
  worker.unref();
  return { write, assertUsable, giveUp, close };

  function write(request: Request, bytes: number): Promise<Reply> {
    return new Promise((resolve, reject) => {
      assertUsable();
      if (waiting.length >= waitingMax.requests || waitingBytes + bytes > waitingMax.bytes) {
        throw new StoreUnavailable(`too many writes wait for ${thread.file}`);
      }
      waiting.push({ request, bytes, askedMs: performance.now(), resolve, reject });
      waitingBytes += bytes;
      watch ??= setInterval(expire, Math.max(5, limitMs / 20));
      schedule();
    });
  }

  function assertUsable(): void {
    if (closing !== null) throw new StoreUnavailable(`${thread.file} is closed`);
    if (unusable instanceof StoreDamaged) throw unusable;
    if (unusable !== null) throw new StoreUnavailable(unusable.message, { cause: unusable });
  }

  /** Sends the next batch: its first pieces at once, the rest when the callers that run now have asked for what they want. */
  function schedule(): void {
    if (inFlight.length > 0 && !gathering) return;
    if (waiting.length >= pieceRequests) {
      gathering = true;
      send();
    }
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      if (inFlight.length === 0 || gathering) send();
      gathering = false;
    });
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

  /** Answers for what took too long: what was sent may still happen, what waited will not. */
  function expire(): void {
    const since = performance.now() - limitMs;
    for (const { askedMs, reject } of inFlight) {
      if (askedMs < since) reject(new OutcomeUnknown(`${thread.file} did not answer within ${limitMs} ms`));
    }
    const expired = waiting.findIndex(({ askedMs }) => askedMs >= since);
    for (const { bytes, reject } of waiting.splice(0, expired === -1 ? waiting.length : expired)) {
      waitingBytes -= bytes;
      reject(new StoreUnavailable(`${thread.file} had no time for it within ${limitMs} ms`));
    }
  }

  /** Nothing is under way: the clock of the limits stops, and whoever waits to close goes on. */
  function settle(): void {
    if (watch !== null) clearInterval(watch);
    watch = null;
    onIdle?.();
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
      if (inFlight.length > 0 || waiting.length > 0) {
        await withLimit(new Promise<void>((resolve) => (onIdle = resolve)));
      }
      if (watch !== null) clearInterval(watch);
      // A file whose disk failed is not touched again, not even to tidy it.
      if (unusable === null && inFlight.length === 0) post({ kind: 'close' });
      else await worker.terminate();
      if (!(await withLimit(exited))) await worker.terminate();
    })();
    return closing;
  }

  async function withLimit(event: Promise<void>): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, limitMs * 1.1, false)));
    const inTime = await Promise.race([event.then(() => true), late]);
    clearTimeout(timer);
    return inTime;
  }

  function post(message: ToThread<Request>): void {
    worker.postMessage(message);
  }
}

/** Resolves when the thread has opened its file. */
function opened(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (message: FromThread<unknown>) => {
      worker.off('error', reject);
      if (message.kind === 'refused') reject(errorOf(message.failure));
      else resolve();
    });
  });
}
