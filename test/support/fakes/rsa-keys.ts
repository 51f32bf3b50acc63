import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyPairKeyObjectResult } from 'node:crypto';
import { readFileSync } from 'node:fs';

type Owner = 'ours' | 'a stranger';

// Compiled tests run below dist.
const file = new URL('../../../../test/support/fakes/rsa-keys.json', import.meta.url);
const keys = JSON.parse(readFileSync(file, 'utf8')) as Record<Owner, JsonWebKey>;

/** Returns the RSA keys of an owner, of 2,048 bits. They are fixed: to make keys takes longer than most tests. */
export function rsaKeys(owner: Owner): KeyPairKeyObjectResult {
  const privateKey = createPrivateKey({ key: keys[owner], format: 'jwk' });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}
