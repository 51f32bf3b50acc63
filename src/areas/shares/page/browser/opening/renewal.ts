import type { Opening } from './share-reply.js';
import type { Wording } from '../player/formats.js';

/** Counts a time down that a visitor has to wait, second by second. @param onEnd runs when the time is over, and not after `stop` */
export function makeCountdown(
  { button, line }: { readonly button: HTMLButtonElement; readonly line: HTMLElement },
  { words, formats }: Wording,
  onEnd: () => void,
) {
  let timer = 0;

  function stop(): void {
    clearInterval(timer);
    button.disabled = false;
    line.hidden = true;
  }

  return {
    stop,
    /** Disables the button and shows the time that is left until both are free again. */
    start: (seconds: number) => {
      stop();
      const endsAt = performance.now() + seconds * 1_000;
      const tick = (): void => {
        const left = Math.ceil((endsAt - performance.now()) / 1_000);
        if (left > 0) {
          line.textContent = words.say('wait.left', { time: formats.clock(left) });
          return;
        }
        stop();
        onEnd();
      };
      button.disabled = true;
      line.hidden = false;
      tick();
      timer = setInterval(tick, 250);
    },
  };
}

/** Milliseconds: how early URLs are renewed before they expire, and the pause before a retry. */
const renewAheadMs = 60_000;
const renewAgainMs = 10_000;

/** Renews the URLs of an opened share before they expire. */
export function makeRenewal(renew: () => void) {
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
    /** Plans the next renewal. @param aheadMs see `ShareReply` */
    plan: ({ files }: Opening, aheadMs: number) => {
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
    /** Plans another attempt after one that failed. @param waitSeconds at least this long */
    retry: (waitSeconds: number) => wait(Math.max(renewAgainMs, waitSeconds * 1_000)),
    stop: () => {
      clearTimeout(timer);
      dueAt = Infinity;
      endsAt = -Infinity;
    },
    isDue: () => Date.now() > dueAt,
  };
}
