import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { DoesNotOpen } from './errors.js';
import { decodeBase64url } from '../rings/keyring.js';
import type { RandomBytes } from './digests.js';

/** Returns the scope that seals a note on a payment: the order's buyer `noteOf`, or without a buyer the note itself. */
export function paymentNoteScope(
  paymentId: string,
  noteOf: string | null,
): { readonly scope: LastingScope; readonly field: string } {
  return noteOf === null
    ? { scope: { kind: 'payment-note', paymentId }, field: 'note' }
    : { scope: { kind: 'person', userId: noteOf }, field: `payment-note/${paymentId}` };
}

/** The owner of a sealed value. A lasting scope has one data key, whose destruction erases all values of the scope. */
export type LastingScope =
  | { readonly kind: 'person'; readonly userId: string }
  /** An invited address, maybe without an account. The scope ends with the membership or the withdrawal. */
  | { readonly kind: 'invitation'; readonly projectId: string; readonly invitationId: string }
  /** An operator's note on a payment that concerns no person with a data key. */
  | { readonly kind: 'payment-note'; readonly paymentId: string }
  | { readonly kind: 'share'; readonly projectId: string; readonly shareId: string }
  /** The addresses and the message of a request to mail the link of a share. The scope ends when the mails have gone. */
  | { readonly kind: 'share-mail'; readonly projectId: string; readonly mailId: string }
  | {
      readonly kind: 'storage-credentials';
      readonly projectId: string;
      readonly storageId: string;
      /** The number of the credentials of the storage. Each replacement has a separate key. */
      readonly version: number;
    };

/** A reply in an idempotency claim. It is deleted within 24 h, so the master key seals it and it has no data key. */
interface ReplyScope {
  readonly kind: 'reply';
  /** The key of the claim in the state store. */
  readonly claim: string;
}

export type KeyScope = LastingScope | ReplyScope;

/** Returns the scope as a list of strings, kind first. Two scopes never have the same list. */
export function scopeParts(scope: KeyScope): readonly string[] {
  switch (scope.kind) {
    case 'person':
      return [scope.kind, scope.userId];
    case 'invitation':
      return [scope.kind, scope.projectId, scope.invitationId];
    case 'payment-note':
      return [scope.kind, scope.paymentId];
    case 'share':
      return [scope.kind, scope.projectId, scope.shareId];
    case 'share-mail':
      return [scope.kind, scope.projectId, scope.mailId];
    case 'storage-credentials':
      return [scope.kind, scope.projectId, scope.storageId, String(scope.version)];
    case 'reply':
      return [scope.kind, scope.claim];
  }
}

export const dataKeyPrefix = 'data-key/';

/** Returns the key of the scope's wrapped data key in the state store. */
export function dataKeyRecord(scope: LastingScope): string {
  return dataKeyPrefix + scopeParts(scope).map(encodeURIComponent).join('/');
}

/*
 * AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce and a 16-byte tag. GCM does not commit to its key: a person
 * can make one ciphertext that opens under two keys. Therefore HKDF (RFC 5869), salted with the nonce, derives from the
 * key an encryption key and a commitment. The envelope stores the commitment, and opening compares it. The committing
 * suites of the AWS Encryption SDK do the same. A derived key for each value also removes the limit of 2^32 values for
 * one key.
 */
const cipherName = 'aes-256-gcm';
const nonceBytes = 12;
const commitmentBytes = 32;
const tagBytes = 16;
const headBytes = nonceBytes + commitmentBytes + tagBytes;
const derivationInfo = 'stowage envelope v1';

/** The additional authenticated data: the kind of the value and its owner. As JSON, no two lists share an encoding. */
type EnvelopeContext = readonly string[];

function additionalData(context: EnvelopeContext): Buffer {
  return Buffer.from(JSON.stringify(context), 'utf8');
}

/** Derives two blocks of HKDF-SHA-256 (RFC 5869, sections 2.2 and 2.3). `hkdfSync` does so at twice the cost. */
function derive(key: Buffer, nonce: Buffer): { encryptionKey: Buffer; commitment: Buffer } {
  const pseudorandomKey = hmac(nonce, key);
  const encryptionKey = hmac(pseudorandomKey, derivationInfo, '\x01');
  const commitment = hmac(pseudorandomKey, encryptionKey, derivationInfo, '\x02');
  return { encryptionKey, commitment };
}

function hmac(key: Buffer, ...parts: readonly (Buffer | string)[]): Buffer {
  const digest = createHmac('sha256', key);
  for (const part of parts) digest.update(part);
  return digest.digest();
}

/** Returns base64url of nonce, commitment, tag and ciphertext: 60 bytes and the plaintext's length. */
export function sealEnvelope(
  key: Buffer,
  context: EnvelopeContext,
  plaintext: Buffer,
  randomBytes: RandomBytes,
): string {
  const nonce = randomBytes(nonceBytes);
  const { encryptionKey, commitment } = derive(key, nonce);
  const cipher = createCipheriv(cipherName, encryptionKey, nonce, { authTagLength: tagBytes });
  cipher.setAAD(additionalData(context));
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([nonce, commitment, cipher.getAuthTag(), ciphertext]).toString('base64url');
}

/** Decrypts an envelope of `sealEnvelope` with the same key and context. @throws DoesNotOpen */
export function openEnvelope(key: Buffer, context: EnvelopeContext, envelope: string): Buffer {
  // Only the canonical spelling opens, so two stored texts never mean the same value.
  const bytes = decodeBase64url(envelope);
  if (bytes === null || bytes.length < headBytes) throw new DoesNotOpen();
  const nonce = bytes.subarray(0, nonceBytes);
  const storedCommitment = bytes.subarray(nonceBytes, nonceBytes + commitmentBytes);
  const { encryptionKey, commitment } = derive(key, nonce);
  if (!timingSafeEqual(storedCommitment, commitment)) throw new DoesNotOpen();
  const decipher = createDecipheriv(cipherName, encryptionKey, nonce, { authTagLength: tagBytes });
  decipher.setAAD(additionalData(context));
  decipher.setAuthTag(bytes.subarray(nonceBytes + commitmentBytes, headBytes));
  const plaintext = decipher.update(bytes.subarray(headBytes));
  try {
    return Buffer.concat([plaintext, decipher.final()]);
  } catch {
    throw new DoesNotOpen();
  }
}
