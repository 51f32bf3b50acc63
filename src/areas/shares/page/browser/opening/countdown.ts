import type { ShareFormats } from '../player/formats.js';
import type { ShareWords } from '../texts.js';

/** A time that a visitor has to wait, second by second. */
export interface Countdown {
  /** Disables the button and shows the time that is left until both are free again. */
  readonly start: (seconds: number) => void;
  readonly stop: () => void;
}

/** @param onEnd runs when the time is over, and not after `stop` */
export function makeCountdown(
  { button, line }: { readonly button: HTMLButtonElement; readonly line: HTMLElement },
  { words, formats }: { readonly words: ShareWords; readonly formats: ShareFormats },
  onEnd: () => void,
): Countdown {
  let timer = 0;

  function stop(): void {
    clearInterval(timer);
    button.disabled = false;
    line.hidden = true;
  }

  return {
    stop,
    start: (seconds) => {
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
