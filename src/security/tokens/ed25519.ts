import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** RFC 8410, section 7: the PKCS #8 wrapping of a 32-byte Ed25519 seed. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

export interface Ed25519KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Returns the key pair of a 32-byte seed (RFC 8032, section 5.1.5). */
export function ed25519KeyPair(seed: Buffer): Ed25519KeyPair {
  const privateKey = createPrivateKey({
    key: Buffer.concat([pkcs8Prefix, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}
