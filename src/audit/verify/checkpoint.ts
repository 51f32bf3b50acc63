import { isUtf8 } from 'node:buffer';
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { isCount, Malformed, sha256, shown, Unusable } from './basics.js';

/** A vkey: C2SP signed-note. `id` is hexadecimal, `raw` the base64 of type and key. */
export interface VerifierKey {
  readonly name: string;
  readonly id: string;
  readonly type: number;
  readonly raw: string;
  readonly key: KeyObject;
}

/** Reads vkeys (C2SP signed-note) of one type: 1 for logs, 4 for witnesses. @throws Unusable */
export function readKeys(text: string, type: number): readonly VerifierKey[] {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const keys = lines.map((line) => {
    const [, name = '', id = '', raw = ''] =
      /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/.exec(line) ?? [];
    const bytes = Buffer.from(raw, 'base64');
    const idOf = sha256(Buffer.concat([Buffer.from(`${name}\n`), bytes])).toString('hex', 0, 4);
    if (bytes.length !== 33 || id !== idOf) throw new Unusable(`${shown(line)} is no vkey`);
    if (bytes[0] !== type) throw new Unusable(`${shown(line)} has the type ${bytes[0]}, not ${type}`);
    const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), bytes.subarray(1)]);
    return { name, id, type, raw, key: createPublicKey({ key: der, format: 'der', type: 'spki' }) };
  });
  if (keys.length === 0) throw new Unusable('a file of keys has no vkey');
  return keys;
}

/** A checkpoint, whose signatures have the form of a note. `bytes` go without the id of the key. */
export interface SignedCheckpoint {
  readonly text: string;
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
  readonly signatures: readonly { readonly name: string; readonly id: string; readonly bytes: Buffer }[];
}

/** Reads a C2SP tlog-checkpoint, and verifies no signature. @throws Malformed */
export function readCheckpoint(bytes: Buffer): SignedCheckpoint {
  const note = bytes.toString();
  const [, text = '', lines = ''] = /^([^]*\n)\n((?:— [^\n]+\n)+)$/.exec(note) ?? [];
  const [, origin, size = '', root = ''] =
    /^([^\n]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n([^\n]+\n)*$/.exec(text) ?? [];
  if (origin === undefined || !isCount(Number(size))) throw new Malformed('it is no checkpoint');
  if (!isUtf8(bytes) || /[^\P{Cc}\n]/u.test(note))
    throw new Malformed('it has bytes that a note must not have');
  const signatures = lines.split('\n').slice(0, -1).map(readSignature);
  return { text, origin, size: Number(size), root: base64Bytes(root), signatures };
}

function readSignature(line: string): SignedCheckpoint['signatures'][number] {
  const [, name = '', base64 = ''] = /^— ([^\s+]+) (\S+)$/.exec(line) ?? [];
  const signature = base64Bytes(base64);
  if (signature.length < 5) throw new Malformed('a signature line is malformed');
  return { name, id: signature.toString('hex', 0, 4), bytes: signature.subarray(4) };
}

/** Other texts of the same bytes are refused, so that a checkpoint has one text. */
function base64Bytes(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw new Malformed('its base64 is malformed');
  return bytes;
}

/** The known keys that signed. @throws Malformed where the signature of a known key is wrong, or no known key signed. */
export function signersOf(
  { text, origin, signatures }: SignedCheckpoint,
  keys: readonly VerifierKey[],
): readonly VerifierKey[] {
  const signers = keys.filter((key) =>
    signatures.some(({ name, id, bytes }) => {
      if (name !== key.name || id !== key.id) return false;
      if (verify(null, Buffer.from(text), key.key, bytes)) return true;
      throw new Malformed(`the signature of ${shown(name)} is wrong`);
    }),
  );
  if (signers.length === 0) throw new Malformed('no known key signed it');
  if (!signers.some(({ name }) => name === origin))
    throw new Malformed(`no known key of its origin ${shown(origin)} signed it`);
  return signers;
}

/** The known witnesses that cosigned (C2SP tlog-cosignature, version 1), each with its time. One key counts once. */
export function witnessesOf(
  { text, signatures }: SignedCheckpoint,
  keys: readonly VerifierKey[],
): readonly string[] {
  const found = new Map<string, string>();
  for (const { name, id, bytes } of signatures) {
    const key = keys.find((known) => known.name === name && known.id === id);
    if (key === undefined || bytes.length !== 72) continue;
    const time = bytes.readBigUInt64BE();
    // Dates end in the year 275760.
    const date = new Date(Number(time) * 1000);
    const signed = Buffer.from(`cosignature/v1\ntime ${time}\n${text}`);
    if (Number.isNaN(date.getTime()) || !verify(null, signed, key.key, bytes.subarray(8))) continue;
    found.set(key.raw, `${name} at ${date.toISOString()}`);
  }
  return [...found.values()];
}
