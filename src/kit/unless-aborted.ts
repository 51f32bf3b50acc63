/** Waits for work, or until the signal aborts. */
export function unlessAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      signal.removeEventListener('abort', end);
      resolve();
    };
    signal.addEventListener('abort', end, { once: true });
    work.then(end, (error: unknown) => {
      signal.removeEventListener('abort', end);
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the reason of the work, unchanged
      reject(error);
    });
  });
}
