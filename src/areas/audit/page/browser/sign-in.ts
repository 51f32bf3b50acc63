import { announce, byId } from '../../../../http/pages/browser/elements.js';
import type { KeptDevice } from './kept-device.js';
import { fieldsOf, textIn } from './replies.js';
import { sentenceOfCall, type ServiceClient } from './service-client.js';

/** The forms of the sign-in: password, mailed code or passkey, then the second factor. */
interface SignIn {
  /** Shows the first form, with a sentence that says why; empty at the first visit. */
  readonly ask: (why: string) => void;
  /** Shows the form of the second factor. */
  readonly askSecondFactor: () => void;
  /** Says whether the signed-in account has a second factor. */
  readonly hasFactor: () => Promise<boolean>;
  readonly hide: () => void;
}

export function makeSignIn(deps: {
  readonly client: ServiceClient;
  readonly device: KeptDevice;
  readonly onSignedIn: (account: string) => void;
}): SignIn {
  const { client, device, onSignedIn } = deps;
  const first = byId('sign-in', HTMLFormElement);
  const second = byId('second-factor', HTMLFormElement);
  const email = byId('email', HTMLInputElement);
  const password = byId('password', HTMLInputElement);
  const mailedCode = byId('mailed-code', HTMLInputElement);
  const withCode = byId('with-code', HTMLElement);
  const withPassword = byId('with-password', HTMLElement);
  const factor = byId('factor', HTMLInputElement);
  const firstNote = byId('sign-in-note', HTMLElement);
  const secondNote = byId('second-factor-note', HTMLElement);
  const usePasskey = byId('use-passkey', HTMLButtonElement);
  const provePasskey = byId('prove-passkey', HTMLButtonElement);
  for (const button of [usePasskey, provePasskey]) button.hidden = !knowsPasskeys();
  let account = '';
  let hasTotp = false;
  let typedCode = false;
  first.addEventListener('submit', (event) => {
    event.preventDefault();
    const code = mailedCode.value.trim();
    void attempt(first, firstNote, async () => {
      const reply = withCode.hidden
        ? await client.post('/api/v1/auth/login', { ...address(), password: password.value })
        : await client.post('/api/v1/auth/email-code/login', { ...address(), code });
      begin(reply);
      if (hasTotp) signIn.askSecondFactor();
      else onSignedIn(account);
    });
  });
  usePasskey.addEventListener('click', () => {
    void attempt(first, firstNote, async () => {
      const credential = await askForPasskey(client, '/api/v1/auth/passkey-login');
      begin(await client.post('/api/v1/auth/passkey-login', { credential }));
      onSignedIn(account);
    });
  });
  provePasskey.addEventListener('click', () => {
    void attempt(second, secondNote, async () => {
      const passkey = await askForPasskey(client, '/api/v1/auth/reauthenticate');
      await client.post('/api/v1/auth/reauthenticate', { passkey });
      onSignedIn(account);
    });
  });
  byId('mail-code', HTMLButtonElement).addEventListener('click', () => {
    void attempt(first, firstNote, async () => {
      await client.post('/api/v1/auth/email-code/send', address());
      [withCode.hidden, withPassword.hidden] = [false, true];
      announce(firstNote, 'If the address has an account, a code is on its way.');
      mailedCode.focus();
    });
  });
  byId('use-password', HTMLButtonElement).addEventListener('click', () => {
    [withCode.hidden, withPassword.hidden] = [true, false];
    password.focus();
  });
  second.addEventListener('submit', (event) => {
    event.preventDefault();
    const typed = factor.value.trim();
    const body = /^\d{6}$/.test(typed) ? { code: typed } : { recovery_code: typed };
    void attempt(second, secondNote, async () => {
      const reply = await client.post('/api/v1/auth/2fa/verify', body);
      const data = fieldsOf(fieldsOf(reply)['data']);
      client.useTokens(data['tokens']);
      device.keep(data);
      typedCode = 'code' in body;
      onSignedIn(account);
    });
  });
  byId('start-again', HTMLButtonElement).addEventListener('click', () => {
    void client.signOut().catch(() => undefined);
    signIn.ask('');
  });
  const signIn: SignIn = {
    ask: (why) => {
      [first.hidden, second.hidden] = [false, true];
      forget();
      announce(firstNote, why);
      email.focus();
    },
    askSecondFactor: () => {
      [first.hidden, second.hidden] = [true, false];
      forget();
      // A code of the app has passed, and the service asks for more: the account has a passkey.
      announce(secondNote, typedCode ? 'The passkey is stronger: use it, or a recovery code.' : '');
      factor.focus();
    },
    hasFactor: async () => {
      if (hasTotp) return true;
      const { items } = fieldsOf(fieldsOf(await client.getJson('/api/v1/auth/passkeys'))['data']);
      return Array.isArray(items) && items.length > 0;
    },
    hide: () => {
      [first.hidden, second.hidden] = [true, true];
      forget();
    },
  };
  return signIn;

  /** Takes the tokens of a sign-in, and remembers what the page has to know of the account. */
  function begin(reply: unknown): void {
    const data = fieldsOf(fieldsOf(reply)['data']);
    const user = fieldsOf(data['user']);
    client.useTokens(data['tokens']);
    device.keep(data);
    account = textIn(user, 'email');
    hasTotp = user['two_factor_enabled'] === true;
    typedCode = false;
  }

  function address() {
    return { email: email.value, ...device.field() };
  }

  function forget(): void {
    for (const input of [password, mailedCode, factor]) input.value = '';
  }
}

/** Runs one attempt at a time, and announces why it failed. */
async function attempt(form: HTMLFormElement, note: HTMLElement, work: () => Promise<void>): Promise<void> {
  const buttons = [...form.querySelectorAll('button')];
  if (buttons.some(({ disabled }) => disabled)) return;
  for (const button of buttons) button.disabled = true;
  announce(note, '');
  try {
    await work();
  } catch (error) {
    announce(note, error instanceof NoPasskey ? error.message : sentenceOfCall(error));
    const typed = [...form.querySelectorAll('input')].findLast(({ offsetParent }) => offsetParent !== null);
    typed?.focus();
    typed?.select();
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

/** The browser gave no passkey. The message is a sentence for the user. */
class NoPasskey extends Error {
  override readonly name = 'NoPasskey';
}

function knowsPasskeys(): boolean {
  return typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;
}

/**
 * Asks the browser for a passkey that answers a challenge of the service.
 * @param path the call that takes the response; its options are below it
 * @throws NoPasskey, and the errors of the client
 */
async function askForPasskey(client: ServiceClient, path: string): Promise<object> {
  const reply = fieldsOf(fieldsOf(await client.post(`${path}/options`, {}))['data']);
  const json = reply['publicKey'] as PublicKeyCredentialRequestOptionsJSON;
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(json);
  try {
    const credential = await navigator.credentials.get({ publicKey });
    if (credential instanceof PublicKeyCredential) return credential.toJSON();
  } catch (error) {
    // The user dismissed the dialog, or the browser has no passkey of this service.
    if (!(error instanceof DOMException)) throw error;
  }
  throw new NoPasskey('The browser gave no passkey. Try again, or use another way.');
}
