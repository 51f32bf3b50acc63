import { totpCode } from '../fakes/authenticator-app.js';
import { asObject, type HeaderFields, type ServiceClient, textOf } from './service-client.js';

/**
 * Turns TOTP on for the account of a session, which has passed it then. The account must have no factor.
 * @returns the recovery codes
 */
export async function addTotp(client: ServiceClient, headers: HeaderFields): Promise<readonly string[]> {
  const enrolled = await client.post('/api/v1/auth/2fa/totp', {}, headers);
  const code = totpCode(textOf(asObject(enrolled.json()['data']), 'secret'), new Date());
  const confirmed = await client.post('/api/v1/auth/2fa/totp/confirm', { code }, headers);
  if (confirmed.status !== 200) throw new Error(`TOTP was answered ${confirmed.status}: ${confirmed.text}`);
  return asObject(confirmed.json()['data'])['recovery_codes'] as readonly string[];
}

/** Passes the second factor by a recovery code. */
export async function recover(client: ServiceClient, headers: HeaderFields, code: string): Promise<void> {
  const passed = await client.post('/api/v1/auth/2fa/verify', { recovery_code: code }, headers);
  if (passed.status !== 200) throw new Error(`the code was answered ${passed.status}: ${passed.text}`);
}
