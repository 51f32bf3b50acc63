import { byId } from '../../../../../http/pages/browser/elements.js';
import { makeCountdown } from './renewal.js';
import type { Wording } from '../player/formats.js';

/** Makes the panel in place of a share that does not open. */
export function makeNotices(given: Wording) {
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

  function offer(label: string, work: (() => void) | null): void {
    repeat = work;
    button.textContent = label;
    button.hidden = work === null;
  }

  function show(title: string, explanation: string): void {
    heading.textContent = title;
    text.textContent = explanation;
    panel.hidden = false;
    heading.focus();
  }

  return {
    /** @param reason why the link opens nothing, as the service says it to a visitor who knows the share; empty for others */
    showGone: (reason: string) => {
      offer('', null);
      countdown.stop();
      show(words.say('gone.heading'), words.sayIfKnown(`gone.${reason}`) ?? words.say('gone.text'));
    },
    /** Offers another attempt, after a time where the service asks for one. */
    showUnreached: (waitSeconds: number, again: () => void) => {
      offer(words.say('again'), again);
      const isBusy = waitSeconds > 0;
      show(words.say(isBusy ? 'wait.busy' : 'unreached.heading'), isBusy ? '' : words.say('unreached.text'));
      if (isBusy) countdown.start(waitSeconds);
      else countdown.stop();
    },
    /** Asks for a click before a use is counted. */
    showCounted: (open: () => void) => {
      offer(words.say('ask.open'), open);
      show(words.say('ask.heading'), words.say('ask.counted'));
    },
    hide: () => {
      countdown.stop();
      panel.hidden = true;
    },
  };
}
