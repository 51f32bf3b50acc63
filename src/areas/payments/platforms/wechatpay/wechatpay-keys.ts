import { type VerifyingKey, isValidAt, parseCertificate, parsePublicKey } from '../keys/certificates.js';
import { type KeyDirectoryFile, KeyDirectoryProblem, makeKeyDirectory } from '../keys/key-directory.js';

/** Finds a valid key of the platform by its name in `Wechatpay-Serial`. */
export type WechatPayKeys = (serial: string, now: Date) => VerifyingKey | null;

/**
 * Reads certificates and public keys from `PAYMENT_WECHATPAY_KEYS_DIR`. While a merchant moves from certificates to
 * public keys, both sign. The serial number names a certificate. A public key contains no name, so its file has the
 * name: `PUB_KEY_ID_….pem`.
 * @throws KeyDirectoryProblem
 */
export function makeWechatPayKeys(path: string, report: (problem: string) => void): WechatPayKeys {
  const directory = makeKeyDirectory({ path, parse: parseKeys, report });
  return (serial, now) => {
    const key = directory(now).get(serial);
    return key !== undefined && isValidAt(key, now) ? key : null;
  };
}

/** @throws KeyDirectoryProblem */
function parseKeys(files: readonly KeyDirectoryFile[]): ReadonlyMap<string, VerifyingKey> {
  const keys = new Map(files.map(parseKey));
  if (keys.size === 0)
    throw new KeyDirectoryProblem('there is no certificate or public key of the platform (.pem)');
  return keys;
}

function parseKey({ name, text }: KeyDirectoryFile): readonly [string, VerifyingKey] {
  const certificate = parseCertificate(text);
  if (certificate !== null) return [certificate.serialNumber, certificate];
  const key = parsePublicKey(text);
  if (key === null) {
    throw new KeyDirectoryProblem(
      `${name}.pem is neither a certificate nor a public key (RSA, 2048 bits or more)`,
    );
  }
  if (!/^PUB_KEY_ID_[0-9A-Za-z]{1,100}$/.test(name)) {
    throw new KeyDirectoryProblem(
      `${name}.pem is a public key: name it PUB_KEY_ID_….pem, by the id that the platform gives it`,
    );
  }
  return [name, { key, validFrom: Number.NEGATIVE_INFINITY, validTo: Number.POSITIVE_INFINITY }];
}
