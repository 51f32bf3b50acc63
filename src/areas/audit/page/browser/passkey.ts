import { fieldsOf } from './replies.js';
import type { ServiceClient } from './service-client.js';

/** The browser gave no passkey. The message is a sentence for the user. */
export class NoPasskey extends Error {
  override readonly name = 'NoPasskey';
}

export function knowsPasskeys(): boolean {
  return typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;
}

/**
 * Asks the browser for a passkey that answers a challenge of the service.
 * @param path the call that takes the response; its options are below it
 * @throws NoPasskey, and the errors of the client
 */
export async function askForPasskey(client: ServiceClient, path: string): Promise<object> {
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
