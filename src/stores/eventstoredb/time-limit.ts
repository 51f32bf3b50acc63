/** Why a call was given up before it was answered. */
export class CallAbandoned extends Error {
  override readonly name = 'CallAbandoned';
}

/**
 * Runs one outside call under a time limit. `run` is given a signal that aborts when the limit passes or the caller
 * gives up, so that it can let go of what it holds; the promise rejects at that moment, whatever `run` does.
 * Real timers, not the clock argument: what is bounded here is the network's time.
 * @param limit.ms the limit in milliseconds
 * @throws CallAbandoned
 */
export function withinLimit<T>(
  limit: { readonly ms: number; readonly signal?: AbortSignal | undefined },
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const giveUp = (message: string): void => {
      const reason = new CallAbandoned(message);
      finish();
      reject(reason);
      controller.abort(reason);
    };
    const onAbort = (): void => {
      giveUp('the caller gave the call up');
    };
    const timer = setTimeout(() => {
      giveUp(`no answer within ${limit.ms} ms`);
    }, limit.ms);
    const finish = (): void => {
      clearTimeout(timer);
      limit.signal?.removeEventListener('abort', onAbort);
    };
    if (limit.signal?.aborted === true) {
      onAbort();
      return;
    }
    limit.signal?.addEventListener('abort', onAbort, { once: true });
    run(controller.signal).finally(finish).then(resolve, reject);
  });
}
