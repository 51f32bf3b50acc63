import { type KeyObject, X509Certificate, createPrivateKey, createPublicKey } from 'node:crypto';

/** A key that verifies signatures, with its validity in milliseconds since 1970. */
export interface VerifyingKey {
  readonly key: KeyObject;
  readonly validFrom: number;
  /** Infinite for a key without an end. */
  readonly validTo: number;
}

export function isValidAt({ validFrom, validTo }: VerifyingKey, now: Date): boolean {
  return validFrom <= now.getTime() && now.getTime() <= validTo;
}

/** A certificate of an RSA key of 2048 bits or more. */
export interface Certificate extends VerifyingKey {
  /** Upper-case hex. */
  readonly serialNumber: string;
  /** The subject's common name; null unless there is exactly one. */
  readonly commonName: string | null;
}

const certificateLabel = '-----BEGIN CERTIFICATE-----';

/** Returns a PEM text with its lines, where a setting has it in one line: with spaces, or with `\\n` between them. */
function pemOf(text: string): string {
  return text
    .replaceAll('\\n', '\n')
    .replaceAll(
      /(-----BEGIN [A-Z0-9 ]+-----)([A-Za-z0-9+/=\s]+)(-----END)/g,
      (_, begin: string, base64: string, end: string) => {
        const lines = base64.replaceAll(/\s/g, '').match(/.{1,64}/g) ?? [];
        return [begin, ...lines, end].join('\n');
      },
    );
}

/** Parses the first certificate of a PEM text. Returns null if there is none with an RSA key of 2048 bits or more. */
export function parseCertificate(text: string): Certificate | null {
  const pem = pemOf(text);
  const start = pem.indexOf(certificateLabel);
  const certificate = start < 0 ? null : attempt(() => new X509Certificate(pem.slice(start)));
  if (certificate === null) return null;
  const key = attempt(() => certificate.publicKey);
  if (key === null || !isStrongRsa(key)) return null;
  const names = certificate.subject.split('\n').filter((line) => line.startsWith('CN='));
  return {
    key,
    validFrom: Date.parse(certificate.validFrom),
    validTo: Date.parse(certificate.validTo),
    serialNumber: certificate.serialNumber.toUpperCase(),
    commonName: names.length === 1 ? (names[0]?.slice(3) ?? null) : null,
  };
}

/** Parses the RSA public key of a PEM text. Returns null for a private key, which must not lie with public keys. */
export function parsePublicKey(text: string): KeyObject | null {
  const pem = pemOf(text);
  const start = pem.search(/-----BEGIN (?:RSA )?PUBLIC KEY-----/);
  return start < 0 || pem.includes('PRIVATE KEY') ? null : strongRsa(() => createPublicKey(pem.slice(start)));
}

/** Parses an RSA key from base64 of a SubjectPublicKeyInfo. Returns null for any other text. */
export function parseBareKey(base64: string): KeyObject | null {
  const bytes = Buffer.from(base64, 'base64');
  return strongRsa(() => createPublicKey({ key: bytes, format: 'der', type: 'spki' }));
}

/**
 * Parses an RSA private key: PEM, or base64 (PKCS #8 or PKCS #1) as the platforms' tools write it. Returns null for any
 * other text.
 */
export function parsePrivateKey(text: string): KeyObject | null {
  if (text.includes('-----BEGIN')) return strongRsa(() => createPrivateKey(pemOf(text)));
  const key = Buffer.from(text, 'base64');
  return (
    strongRsa(() => createPrivateKey({ key, format: 'der', type: 'pkcs8' })) ??
    strongRsa(() => createPrivateKey({ key, format: 'der', type: 'pkcs1' }))
  );
}

function strongRsa(make: () => KeyObject): KeyObject | null {
  const key = attempt(make);
  return key !== null && isStrongRsa(key) ? key : null;
}

function isStrongRsa(key: KeyObject): boolean {
  return key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 2_048;
}

/** Node throws for a text that is no key. */
function attempt<Result>(make: () => Result): Result | null {
  try {
    return make();
  } catch {
    return null;
  }
}
