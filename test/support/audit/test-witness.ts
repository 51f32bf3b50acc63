import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { foldNodes, type Hash, nodeHash } from '../../../src/audit/merkle.js';
import { isSignedBy, parseCheckpointText, parseNote, parseVkey } from '../../../src/audit/note.js';

/** A witness over HTTP (C2SP tlog-witness), with one state for each origin. */
export interface TestWitness {
  readonly url: string;
  readonly vkey: string;
  /** The size that it has cosigned for an origin. */
  readonly sizeOf: (origin: string) => number;
  /** Forgets what it has seen of an origin, or sets another state. */
  readonly set: (origin: string, state: { readonly size: number; readonly root: Hash } | null) => void;
  /** The statuses of its replies. */
  readonly statuses: readonly number[];
  close(): Promise<void>;
}

const seed = Buffer.alloc(32, 77);
const name = 'witness.example/w1';
const time = 1_767_323_045n;

/** @param logVkeys public keys of the logs that the witness knows */
export async function startTestWitness(logVkeys: readonly string[]): Promise<TestWitness> {
  const key = createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  const typed = Buffer.concat([Buffer.of(4), spki.subarray(12)]);
  const keyId = createHash('sha256').update(`${name}\n`).update(typed).digest().subarray(0, 4);
  const states = new Map<string, { readonly size: number; readonly root: Hash }>();
  const statuses: number[] = [];

  const answer = (body: string): { readonly status: number; readonly text: string } => {
    const split = body.indexOf('\n\n');
    const [old = '', ...proofLines] = body.slice(0, split).split('\n');
    const note = parseNote(body.slice(split + 2));
    const checkpoint = note === null ? null : parseCheckpointText(note.text);
    if (note === null || checkpoint === null || !/^old \d+$/.test(old)) return { status: 400, text: '' };
    const verifiers = logVkeys.flatMap((vkey) => parseVkey(vkey) ?? []);
    const known = verifiers.filter((verifier) => verifier.name === checkpoint.origin);
    if (known.length === 0) return { status: 404, text: '' };
    const isSigned = note.signatures.some((line) => known.some((one) => isSignedBy(one, note.text, line)));
    if (!isSigned) return { status: 403, text: '' };
    const from = Number(old.slice(4));
    if (from > checkpoint.size) return { status: 400, text: '' };
    const held = states.get(checkpoint.origin) ?? { size: 0, root: foldNodes([]) };
    if (from !== held.size) return { status: 409, text: `${held.size}\n` };
    if (from === checkpoint.size && !held.root.equals(checkpoint.root)) {
      return { status: 409, text: `${held.size}\n` };
    }
    const proof = proofLines.map((line) => Buffer.from(line, 'base64'));
    if (!isConsistent(held, checkpoint, proof)) return { status: 422, text: '' };
    states.set(checkpoint.origin, checkpoint);
    const signed = Buffer.from(`cosignature/v1\ntime ${time}\n${note.text}`);
    const stamp = Buffer.alloc(8);
    stamp.writeBigUInt64BE(time);
    const signature = Buffer.concat([keyId, stamp, sign(null, signed, key)]);
    return { status: 200, text: `— ${name} ${signature.toString('base64')}\n` };
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const isCall = request.method === 'POST' && request.url === '/prefix/add-checkpoint';
      const { status, text } = isCall
        ? answer(Buffer.concat(chunks).toString('utf8'))
        : { status: 404, text: '' };
      statuses.push(status);
      response.writeHead(status, status === 409 ? { 'content-type': 'text/x.tlog.size' } : {}).end(text);
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/prefix`,
    vkey: `${name}+${keyId.toString('hex')}+${typed.toString('base64')}`,
    sizeOf: (origin) => states.get(origin)?.size ?? 0,
    set: (origin, state) => {
      if (state === null) states.delete(origin);
      else states.set(origin, state);
    },
    statuses,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}

/** RFC 9162, section 2.1.4.2. An empty old tree is consistent with every tree, and its proof is empty. */
function isConsistent(
  old: { readonly size: number; readonly root: Hash },
  next: { readonly size: number; readonly root: Hash },
  proof: readonly Hash[],
): boolean {
  if (old.size === 0) return proof.length === 0;
  if (old.size === next.size) return proof.length === 0 && old.root.equals(next.root);
  let [fn, sn] = [old.size - 1, next.size - 1];
  while (fn % 2 === 1) [fn, sn] = [(fn - 1) / 2, Math.floor(sn / 2)];
  const [start, ...rest] = fn === 0 ? [old.root, ...proof] : proof;
  if (start === undefined) return false;
  let [fr, sr] = [start, start];
  for (const hash of rest) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      [fr, sr] = [nodeHash(hash, fr), nodeHash(hash, sr)];
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn / 2, Math.floor(sn / 2)];
    } else {
      sr = nodeHash(sr, hash);
    }
    [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
  }
  return sn === 0 && fr.equals(old.root) && sr.equals(next.root);
}
