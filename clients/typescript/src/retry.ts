export interface RetryOptions {
  /** How often a request is sent at most; 4 by default. */
  readonly attemptsMax: number;
  /** How long one request may wait in all before its last attempt, in ms; 60,000 by default. */
  readonly waitMsMax: number;
  /** The time limit of one attempt, in ms; 30,000 by default. */
  readonly attemptMsMax: number;
}

export const defaultRetry: RetryOptions = { attemptsMax: 4, waitMsMax: 60_000, attemptMsMax: 30_000 };

export type Send = (request: Request) => Promise<Response>;

/**
 * Sends a request again when that is safe: after 429 always, because the service has not begun the work; after 503 and after
 * a lost reply only for GET, HEAD, PUT and DELETE, and for a request with an `Idempotency-Key`, which stays the same. It waits
 * as long as `Retry-After` says. Where that is longer than the rest of `waitMsMax`, the caller gets the reply.
 */
export function makeRetry(send: Send, options: RetryOptions): Send {
  return async (request) => {
    let waitedMs = 0;
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt >= options.attemptsMax;
      const outcome = await once(send, request, options.attemptMsMax);
      if (isLast || !mayRepeat(request, outcome)) return replyOf(outcome);
      const waitMs = waitMsOf(outcome, attempt);
      if (waitedMs + waitMs > options.waitMsMax) return replyOf(outcome);
      await sleep(waitMs, request.signal);
      waitedMs += waitMs;
    }
  };
}

const refreshAttemptsMax = 3;
const refreshAttemptMsMax = 3_000;

/**
 * Sends a refresh again at once after a lost reply or a 503, at most 3 times with 3 s each. The service takes a replaced refresh token
 * again until its successor was used, however long that takes.
 */
export function makeRefreshRetry(send: Send): Send {
  return async (request) => {
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await once(send, request, refreshAttemptMsMax);
      const isAnswered = outcome instanceof Response && outcome.status !== 503;
      if (isAnswered || attempt >= refreshAttemptsMax) return replyOf(outcome);
    }
  };
}

/** A failure is kept beside replies, because both may be followed by another attempt. */
type Outcome = Response | { readonly failure: unknown };

async function once(send: Send, request: Request, attemptMsMax: number): Promise<Outcome> {
  request.signal.throwIfAborted();
  const { signal, timer } = withLimit(request.signal, attemptMsMax);
  try {
    // A request can be sent once, so each attempt sends a copy.
    const copy = new Request(request.clone(), { signal });
    const ended = new Promise<never>((_, reject) => {
      // It holds the copy too: Node passes an abort on to a fetch only while its request is not collected.
      signal.addEventListener('abort', () => reject(copy.signal.reason as Error), { once: true });
    });
    return await Promise.race([send(copy).then(readWhole), ended]);
  } catch (failure) {
    request.signal.throwIfAborted();
    return { failure };
  } finally {
    clearTimeout(timer as number);
  }
}

/** A body that breaks off is a lost reply too. A 204 may have no body, and Chromium reads an empty one. */
async function readWhole(reply: Response): Promise<Response> {
  const body = await reply.arrayBuffer();
  return new Response(body.byteLength === 0 ? null : body, reply);
}

/**
 * Returns a signal that aborts with the outer one, and after the time. A signal of `AbortSignal.any` and `AbortSignal.timeout` does
 * not abort in Node 20 after a garbage collection; a timer holds this one.
 */
export function withLimit(outer: AbortSignal, ms: number): { signal: AbortSignal; timer: unknown } {
  const limit = new AbortController();
  const end = (): void => limit.abort(outer.reason);
  if (outer.aborted) end();
  else outer.addEventListener('abort', end, { once: true });
  const timer: unknown = setTimeout(
    () => {
      outer.removeEventListener('abort', end);
      limit.abort(new DOMException(`no reply within ${ms} ms`, 'TimeoutError'));
    },
    // A longer timer ends at once.
    Math.min(ms, 2 ** 31 - 1),
  );
  return { signal: limit.signal, timer };
}

function replyOf(outcome: Outcome): Response {
  if (outcome instanceof Response) return outcome;
  throw outcome.failure;
}

const repeatable: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);

function mayRepeat(request: Request, outcome: Outcome): boolean {
  const isRepeatable = repeatable.has(request.method) || request.headers.has('idempotency-key');
  if (!(outcome instanceof Response)) return isRepeatable;
  return (
    outcome.status === 429 || (outcome.status === 503 && isRepeatable && outcome.headers.has('retry-after'))
  );
}

/** Returns the wait in ms: what `Retry-After` says in seconds or as a date (RFC 9110, 10.2.3), else a doubled half second. */
function waitMsOf(outcome: Outcome, attempt: number): number {
  const backOffMs = 250 * 2 ** attempt;
  const field = outcome instanceof Response ? outcome.headers.get('retry-after') : null;
  if (field === null) return backOffMs;
  if (/^\d+$/.test(field)) return Number(field) * 1000;
  const at = Date.parse(field);
  return Number.isNaN(at) ? backOffMs : Math.max(0, at - Date.now());
}

/** @throws the reason of the signal when it aborts */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end);
      resolve();
    }, ms);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
