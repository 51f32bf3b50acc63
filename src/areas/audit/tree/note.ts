import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/** The types of keys of C2SP signed-note and tlog-cosignature. */
const ed25519Type = 0x01;
const cosignatureType = 0x04;

/** The DER of RFC 8410 before the 32 bytes of an Ed25519 key. */
const privateKeyHeader = Buffer.from('302e020100300506032b657004220420', 'hex');
const publicKeyHeader = Buffer.from('302a300506032b6570032100', 'hex');

/** A key that signs notes: C2SP signed-note. */
export type NoteSigner = ReturnType<typeof makeNoteSigner>;

/** A public key of a signer or of a witness. */
export interface NoteVerifier {
  readonly vkey: string;
  readonly name: string;
  readonly keyId: string;
  readonly isWitness: boolean;
  /** Returns whether the signature is the key's, over the text. @param signature without the key id */
  readonly verify: (text: string, signature: Buffer) => boolean;
}

/** A note and its signatures. `text` ends with a line end. */
type SignedNote = { readonly text: string; readonly signatures: readonly NoteSignature[] };

/** One line below the text of a note. `keyId` is 8 hexadecimal digits. */
interface NoteSignature {
  readonly name: string;
  readonly keyId: string;
  readonly signature: Buffer;
  readonly line: string;
}

/** The text of a checkpoint: C2SP tlog-checkpoint. */
export interface CheckpointText {
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
}

/** @param seed 32 bytes @param name without spaces and `+` */
export function makeNoteSigner(name: string, seed: Buffer) {
  const privateKey = createPrivateKey({
    key: Buffer.concat([privateKeyHeader, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const typed = Buffer.concat([Buffer.of(ed25519Type), spki.subarray(publicKeyHeader.length)]);
  const keyId = keyIdOf(name, typed);
  return {
    /** The public key as a line: `<name>+<key id, hex>+<base64 of type and key>`. */
    vkey: `${name}+${keyId.toString('hex')}+${typed.toString('base64')}`,
    /** Returns the line of the signature, without a line end. @param text ends with a line end */
    sign: (text: string) => {
      const signature = Buffer.concat([keyId, sign(null, Buffer.from(text), privateKey)]);
      return `— ${name} ${signature.toString('base64')}`;
    },
  };
}

/** Parses a public key. Returns null when the text is none, or its id is not that of its name and key. */
export function parseVkey(vkey: string): NoteVerifier | null {
  const [, name = '', keyId = '', base64 = ''] =
    /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/u.exec(vkey) ?? [];
  const typed = Buffer.from(base64, 'base64');
  const [type] = typed;
  if (type !== ed25519Type && type !== cosignatureType) return null;
  if (keyIdOf(name, typed).toString('hex') !== keyId) return null;
  const publicKey = createPublicKey({
    key: Buffer.concat([publicKeyHeader, typed.subarray(1)]),
    format: 'der',
    type: 'spki',
  });
  const isWitness = type === cosignatureType;
  return {
    ...{ vkey, name, keyId, isWitness },
    verify: isWitness ? cosignatureCheck(publicKey) : (text, bytes) => holds(publicKey, text, bytes),
  };
}

/** Returns the text of a checkpoint. */
export function checkpointText({ origin, size, root }: CheckpointText): string {
  return `${origin}\n${size}\n${root.toString('base64')}\n`;
}

/** Parses the text of a checkpoint without extensions. Returns null when it is none. */
export function parseCheckpointText(text: string): CheckpointText | null {
  const [, origin, size, root] = /^([^\n]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n$/.exec(text) ?? [];
  if (origin === undefined || !Number.isSafeInteger(Number(size)) || root === undefined) return null;
  return { origin, size: Number(size), root: Buffer.from(root, 'base64') };
}

/** Joins a text and lines of signatures to a note. */
export function noteOf(text: string, lines: readonly string[]): string {
  return `${text}\n${lines.map((line) => `${line}\n`).join('')}`;
}

/** Parses a note of at most 64 KiB. Returns null when it is none. */
export function parseNote(note: string): SignedNote | null {
  const end = note.lastIndexOf('\n\n');
  if (end < 0 || note.length > 65_536 || !note.endsWith('\n')) return null;
  const signatures: NoteSignature[] = [];
  for (const line of note.slice(end + 2, -1).split('\n')) {
    const parsed = parseSignatureLine(line);
    if (parsed === null) return null;
    signatures.push(parsed);
  }
  return { text: note.slice(0, end + 1), signatures };
}

/** Parses one line of a signature. Returns null when it is none. */
export function parseSignatureLine(line: string): NoteSignature | null {
  const [, name, base64 = ''] = /^— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})$/u.exec(line) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  if (name === undefined || bytes.length < 5 || bytes.toString('base64') !== base64) return null;
  return { name, line, keyId: bytes.subarray(0, 4).toString('hex'), signature: bytes.subarray(4) };
}

/** Returns whether the signature is the verifier's, over the text. */
export function isSignedBy(
  { name, keyId, verify: holdsFor }: NoteVerifier,
  text: string,
  signature: NoteSignature,
): boolean {
  return signature.name === name && signature.keyId === keyId && holdsFor(text, signature.signature);
}

/** A cosignature holds the time of the witness: C2SP tlog-cosignature, version 1. */
function cosignatureCheck(publicKey: KeyObject): NoteVerifier['verify'] {
  return (text, bytes) => {
    if (bytes.length !== 72) return false;
    const signed = `cosignature/v1\ntime ${bytes.readBigUInt64BE(0)}\n${text}`;
    return holds(publicKey, signed, bytes.subarray(8));
  };
}

function holds(publicKey: KeyObject, text: string, signature: Buffer): boolean {
  return signature.length === 64 && verify(null, Buffer.from(text), publicKey, signature);
}

function keyIdOf(name: string, typedKey: Buffer): Buffer {
  return createHash('sha256').update(`${name}\n`).update(typedKey).digest().subarray(0, 4);
}
