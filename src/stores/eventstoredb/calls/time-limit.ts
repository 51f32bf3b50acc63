/** The error of a call that was abandoned before its answer. */
export class CallAbandoned extends Error {
  override readonly name: string = 'CallAbandoned';
}

/** No answer came within the time limit. */
export class CallTimedOut extends CallAbandoned {
  override readonly name = 'CallTimedOut';
}

/**
 * Runs one outside call. When the limit passes or the caller cancels, the signal aborts and the promise rejects, even
 * when `run` continues. Real timers, not the injected clock, bound the time of the network. @throws CallAbandoned
 */
export function withinLimit<T>(
  limit: { readonly ms: number; readonly signal?: AbortSignal | undefined },
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const giveUp = (reason: CallAbandoned): void => {
      finish();
      reject(reason);
      controller.abort(reason);
    };
    const onAbort = (): void => {
      giveUp(new CallAbandoned('the caller cancelled the call'));
    };
    const timer = setTimeout(() => {
      giveUp(new CallTimedOut(`no answer within ${limit.ms} ms`));
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
