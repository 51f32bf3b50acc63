import { invalid } from '../../../../validation/invalid-request.js';
import { isPrintable } from '../../../../validation/text.js';
import type { StorageProvider } from './region.js';

/** The keys of credentials, first the public one, then the secret (docs/api.md#22-storage-creation-request). */
export const credentialKeys = {
  oss: ['access_key', 'secret_key'],
  cos: ['secret_id', 'secret_key'],
  s3: ['access_key', 'secret_key'],
} as const satisfies Record<StorageProvider, readonly [string, string]>;

const lengthMax = 1_024;
/** Headers contain the public key unchanged, and allow nothing else (RFC 9110, section 5.5). */
const ascii = /^[\x20-\x7e]+$/;

/** Checks that exactly the provider's two keys are given, each with a value. @throws CommandRejected invalid_request */
export function checkCredentials(
  provider: StorageProvider,
  credentials: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const keys: readonly string[] = credentialKeys[provider];
  const [publicKey] = credentialKeys[provider];
  const given = new Map(Object.entries(credentials));
  if (given.size !== keys.length || keys.some((key) => !given.has(key))) {
    invalid('credentials', `must have exactly the keys ${keys.join(' and ')}`);
  }
  for (const [key, value] of given) {
    const field = `credentials.${key}`;
    checkCredential(value, field);
    if (key === publicKey && !ascii.test(value)) {
      invalid(field, 'must be of ASCII characters only');
    }
  }
  return given;
}

/** Checks one key of a pair. @throws CommandRejected invalid_request */
export function checkCredential(value: string, field: string): void {
  if (value.trim() === '') invalid(field, 'must not be blank', 'too_short');
  if (value !== value.trim()) invalid(field, 'must not begin or end with white space');
  if (value.length > lengthMax || !isPrintable(value)) {
    invalid(field, `must be at most ${lengthMax} characters, none of them a control character`);
  }
}
