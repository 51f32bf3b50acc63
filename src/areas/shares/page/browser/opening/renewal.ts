import type { Opening } from './share-reply.js';

/** Renews the URLs of an opened share before they expire. */
export interface Renewal {
  /** Plans the next renewal. @param aheadMs see `ShareReply` */
  readonly plan: (opening: Opening, aheadMs: number) => void;
  /** Plans another attempt after one that failed. @param waitSeconds at least this long */
  readonly retry: (waitSeconds: number) => void;
  readonly stop: () => void;
  readonly isDue: () => boolean;
}

/** Milliseconds: how early URLs are renewed before they expire, and the pause before a retry. */
const renewAheadMs = 60_000;
const renewAgainMs = 10_000;

export function makeRenewal(renew: () => void): Renewal {
  let timer = 0;
  let dueAt = Infinity;
  let endsAt = -Infinity;

  function wait(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(renew, ms);
  }

  // Timers stop while the machine sleeps, so a return to the page renews expired URLs.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible' && Date.now() > dueAt) renew();
  });

  return {
    plan: ({ files }, aheadMs) => {
      clearTimeout(timer);
      const ends = files.flatMap(({ media }) => media.map(({ expires_at }) => Date.parse(expires_at)));
      const first = Math.min(...ends);
      // An unchanged end is the end of the share, so no later URL exists.
      if (first <= endsAt || !Number.isFinite(first)) {
        dueAt = Infinity;
        return;
      }
      endsAt = first;
      dueAt = first + aheadMs - renewAheadMs;
      wait(Math.max(1_000, dueAt - Date.now()));
    },
    retry: (waitSeconds) => {
      wait(Math.max(renewAgainMs, waitSeconds * 1_000));
    },
    stop: () => {
      clearTimeout(timer);
      dueAt = Infinity;
      endsAt = -Infinity;
    },
    isDue: () => Date.now() > dueAt,
  };
}
