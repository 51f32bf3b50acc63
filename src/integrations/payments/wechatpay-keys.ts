import { isValidAt, parseCertificate, parsePublicKey, type VerifyingKey } from './certificates.js';
import { type KeyFile, makeKeyDirectory, KeyDirectoryProblem } from './key-directory.js';

/** The platform's keys that are valid, by what `Wechatpay-Serial` calls them. */
export type WechatPayKeys = (serial: string, now: Date) => VerifyingKey | null;

/**
 * The platform's certificates and public keys of `PAYMENT_WECHATPAY_KEYS_DIR`. While a merchant moves from the one to the other, both
 * sign, so which one is for every callback to say. A certificate goes by the serial number in it, whatever its file is called; a
 * public key, which has none in it, by its file's name: `PUB_KEY_ID_….pem`.
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
function parseKeys(files: readonly KeyFile[]): ReadonlyMap<string, VerifyingKey> {
  const keys = new Map(files.map(parseKey));
  if (keys.size === 0)
    throw new KeyDirectoryProblem('there is no certificate or public key of the platform (.pem)');
  return keys;
}

function parseKey({ name, text }: KeyFile): readonly [string, VerifyingKey] {
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
