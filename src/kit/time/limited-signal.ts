/**
 * Returns a signal that aborts with the outer one, or after a time with a `TimeoutError`.
 * @param ms the time in milliseconds
 */
export function limitedSignal(outer: AbortSignal, ms: number): AbortSignal {
  // The timer holds the controller. The timer of `AbortSignal.timeout` holds its signal weakly: in Node 20, a signal that
  // only `AbortSignal.any` refers to can be collected before its time, and then nothing aborts.
  const limit = new AbortController();
  setTimeout(() => {
    limit.abort(new DOMException('the time limit has passed', 'TimeoutError'));
  }, ms).unref();
  return AbortSignal.any([outer, limit.signal]);
}
