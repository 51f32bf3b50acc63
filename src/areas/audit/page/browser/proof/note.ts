import { type Bytes, bytesFromBase64, digestOfBytes, hexOf, joinBytes, utf8Of } from './bytes.js';
import type { TreeHead } from './tree.js';

/** A signed checkpoint: C2SP tlog-checkpoint in a signed-note. */
export interface CheckpointNote extends TreeHead {
  readonly origin: string;
  /** The signed text, with its last line end. */
  readonly text: string;
  readonly signatures: readonly KeySignature[];
}

/** `keyId` is 8 hexadecimal digits. */
type KeySignature = { readonly name: string; readonly keyId: string; readonly signature: Bytes };

/** A public Ed25519 key of a log: a vkey of C2SP signed-note. */
export interface LogKey {
  readonly vkey: string;
  readonly name: string;
  readonly keyId: string;
  readonly publicKey: Bytes;
}

/** `unsupported`: this browser has no Ed25519. `absent`: there is no signature by this key. */
export type SignatureCheck = 'valid' | 'invalid' | 'absent' | 'unsupported';

const noteLengthMax = 65_536;
const ed25519KeyType = 1;

/** Parses a signed checkpoint without extensions. Returns null when the text is none. */
export function parseCheckpointNote(note: string): CheckpointNote | null {
  const end = note.lastIndexOf('\n\n');
  if (end < 0 || note.length > noteLengthMax || !note.endsWith('\n')) return null;
  const text = note.slice(0, end + 1);
  const [, origin, digits, base64] = /^([^\n]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n$/.exec(text) ?? [];
  const [size, root] = [Number(digits), bytesFromBase64(base64 ?? '')];
  if (origin === undefined || !Number.isSafeInteger(size) || root === null) return null;
  const signatures: KeySignature[] = [];
  for (const line of note.slice(end + 2, -1).split('\n')) {
    const signature = signatureOfLine(line);
    if (signature === null) return null;
    signatures.push(signature);
  }
  return { origin, size, root, text, signatures };
}

/** Parses a vkey. Returns null when the text is none of Ed25519, or its id is not that of its name and key. */
export async function parseLogKey(vkey: string): Promise<LogKey | null> {
  const [, name, keyId, base64 = ''] =
    /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/u.exec(vkey.trim()) ?? [];
  const typed = bytesFromBase64(base64);
  if (name === undefined || keyId === undefined || typed?.[0] !== ed25519KeyType) return null;
  const digest = await digestOfBytes(joinBytes(utf8Of(`${name}\n`), typed));
  if (hexOf(digest.slice(0, 4)) !== keyId) return null;
  return { vkey: vkey.trim(), name, keyId, publicKey: typed.slice(1) };
}

/** Checks the signatures of a key on a note. */
export async function checkSignature(
  { text, signatures }: Pick<CheckpointNote, 'text' | 'signatures'>,
  { name, keyId, publicKey }: LogKey,
): Promise<SignatureCheck> {
  const own = signatures.filter((one) => one.name === name && one.keyId === keyId);
  if (own.length === 0) return 'absent';
  let key;
  try {
    key = await crypto.subtle.importKey('raw', publicKey, 'Ed25519', false, ['verify']);
  } catch (error) {
    // Older browsers do not know the algorithm. All others refuse the key itself.
    return error instanceof Error && error.name === 'DataError' ? 'invalid' : 'unsupported';
  }
  for (const { signature } of own) {
    if (!(await crypto.subtle.verify('Ed25519', key, signature, utf8Of(text)))) return 'invalid';
  }
  return 'valid';
}

function signatureOfLine(line: string): KeySignature | null {
  const [, name, base64 = ''] = /^— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})$/u.exec(line) ?? [];
  const bytes = bytesFromBase64(base64);
  if (name === undefined || bytes === null || bytes.length < 5) return null;
  return { name, keyId: hexOf(bytes.slice(0, 4)), signature: bytes.slice(4) };
}
