import { announce, byId } from '../../../../../http/pages/browser/elements.js';
import { makeCountdown } from './renewal.js';
import type { Wording } from '../player/formats.js';
import { makeAttemptKey, type ShareClient, type ShareReply } from './share-client.js';

/**
 * The form that asks for the password.
 * @param onOpened receives the reply to the right password
 * @param onGone receives the reply when the link opens nothing any more
 */
export function makePasswordForm(
  given: Wording,
  verify: ShareClient['verify'],
  then: { readonly onOpened: (reply: ShareReply) => void; readonly onGone: (reply: ShareReply) => void },
) {
  const { onOpened, onGone } = then;
  const { say } = given.words;
  const form = byId('ask', HTMLFormElement);
  const input = byId('password', HTMLInputElement);
  const button = byId('open', HTMLButtonElement);
  const reveal = byId('reveal', HTMLButtonElement);
  const alarm = byId('alarm', HTMLParagraphElement);
  const countdown = makeCountdown({ button, line: byId('wait', HTMLParagraphElement) }, given, () => {
    announce(alarm, say('wait.ended'));
  });
  let attempt: { readonly password: string; readonly key: string } | null = null;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    // The key Enter submits the form of a disabled button as well.
    if (!button.disabled) void submit();
  });
  reveal.addEventListener('click', () => {
    setRevealed(input.type === 'password');
    input.focus();
  });

  async function submit(): Promise<void> {
    const password = input.value;
    if (password === '') {
      complain(say('ask.empty'));
      return;
    }
    // A retry after a lost reply uses the same key, so that it counts as one use.
    if (attempt?.password !== password) attempt = { password, key: makeAttemptKey() };
    setBusy(true);
    announce(alarm, '');
    const reply = await verify(password, attempt.key);
    setBusy(false);
    if (reply.status !== 0 && reply.status < 500 && reply.status !== 409) attempt = null;
    if (reply.status === 200) {
      empty();
      onOpened(reply);
    } else if (reply.status === 404) {
      onGone(reply);
    } else {
      complain(explain(reply));
      if (reply.waitSeconds > 0 && reply.status === 429) countdown.start(reply.waitSeconds);
    }
  }

  function explain({ status, code, waitSeconds }: ShareReply): string {
    if (code === 'password_not_checkable') return say('ask.uncheckable');
    switch (status) {
      case 400:
        return say('ask.invalid');
      case 401:
        return say('ask.wrong');
      case 429:
        // A full queue asks for a few seconds, a throttled client for at least a minute.
        return say(waitSeconds >= 10 ? 'ask.throttled' : 'wait.busy');
      default:
        return say('unreached.heading');
    }
  }

  function complain(text: string): void {
    announce(alarm, text);
    input.setAttribute('aria-invalid', 'true');
    input.focus();
    input.select();
  }

  function empty(): void {
    input.value = '';
    input.removeAttribute('aria-invalid');
    announce(alarm, '');
    countdown.stop();
    setRevealed(false);
  }

  function setBusy(isBusy: boolean): void {
    button.disabled = isBusy;
    button.classList.toggle('is-busy', isBusy);
  }

  function setRevealed(isRevealed: boolean): void {
    input.type = isRevealed ? 'text' : 'password';
    reveal.setAttribute('aria-pressed', String(isRevealed));
  }

  return {
    /** @param complaint why the visitor has to type it; null at first */
    show: (complaint: string | null) => {
      form.hidden = false;
      if (complaint === null) input.focus();
      else complain(complaint);
    },
    hide: () => {
      form.hidden = true;
      empty();
    },
  };
}
