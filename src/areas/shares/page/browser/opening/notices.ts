import { byId } from '../../../../../http/pages/browser/elements.js';
import { makeCountdown } from './countdown.js';
import type { ShareFormats } from '../player/formats.js';
import type { ShareWords } from '../texts.js';

/** The panel in place of a share that does not open. */
export interface Notices {
  readonly showGone: () => void;
  /** Offers another attempt, after a time where the service asks for one. */
  readonly showUnreached: (waitSeconds: number, again: () => void) => void;
  readonly hide: () => void;
}

export function makeNotices(given: { readonly words: ShareWords; readonly formats: ShareFormats }): Notices {
  const { words } = given;
  const panel = byId('notice', HTMLElement);
  const heading = byId('notice-heading', HTMLHeadingElement);
  const text = byId('notice-text', HTMLParagraphElement);
  const button = byId('again', HTMLButtonElement);
  const countdown = makeCountdown({ button, line: byId('notice-wait', HTMLParagraphElement) }, given, () => {
    button.focus();
  });
  let repeat: (() => void) | null = null;
  button.addEventListener('click', () => repeat?.());

  function show(title: string, explanation: string): void {
    heading.textContent = title;
    text.textContent = explanation;
    panel.hidden = false;
    heading.focus();
  }

  return {
    showGone: () => {
      repeat = null;
      countdown.stop();
      button.hidden = true;
      show(words.say('gone.heading'), words.say('gone.text'));
    },
    showUnreached: (waitSeconds, again) => {
      repeat = again;
      button.hidden = false;
      const isBusy = waitSeconds > 0;
      show(words.say(isBusy ? 'wait.busy' : 'unreached.heading'), isBusy ? '' : words.say('unreached.text'));
      if (isBusy) countdown.start(waitSeconds);
      else countdown.stop();
    },
    hide: () => {
      countdown.stop();
      panel.hidden = true;
    },
  };
}
