import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { foldNodes, type Hash } from '../../../src/areas/audit/tree/merkle.js';
import { isSignedBy, parseCheckpointText, parseNote, parseVkey } from '../../../src/areas/audit/tree/note.js';
import { givenWitness } from './audit-export.js';
import { isConsistent, type TreeHead } from './consistency.js';

/** A witness over HTTP (C2SP tlog-witness), with one state for each origin. */
interface TestWitness {
  readonly url: string;
  readonly vkey: string;
  /** The size that it has cosigned for an origin. */
  readonly sizeOf: (origin: string) => number;
  /** Forgets what it has seen of an origin, or sets another state. */
  readonly set: (origin: string, state: TreeHead | null) => void;
  /** The statuses of its replies. */
  readonly statuses: readonly number[];
  close(): Promise<void>;
}

/**
 * Starts a witness over HTTP (C2SP tlog-witness), with one state for each origin.
 * @param logVkeys public keys of the logs that the witness knows; a test may add some later
 */
export async function startTestWitness(logVkeys: readonly string[]): Promise<TestWitness> {
  const { vkey, cosign } = givenWitness('witness.example/w1', 77);
  const states = new Map<string, TreeHead>();
  const statuses: number[] = [];

  const answer = (body: string): { readonly status: number; readonly text: string } => {
    const read = readRequest(body, logVkeys);
    if (typeof read === 'number') return { status: read, text: '' };
    const { from, checkpoint, proof, noteText } = read;
    const held = states.get(checkpoint.origin) ?? { size: 0, root: foldNodes([]) };
    const status = statusFor(held, { from, next: checkpoint, proof });
    if (status === 409) return { status, text: `${held.size}\n` };
    if (status !== 200) return { status, text: '' };
    states.set(checkpoint.origin, checkpoint);
    return { status, text: `${cosign(noteText)}\n` };
  };

  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const isCall = request.method === 'POST' && request.url === '/prefix/add-checkpoint';
      const { status, text } = isCall ? answer(body) : { status: 404, text: '' };
      statuses.push(status);
      response.writeHead(status, status === 409 ? { 'content-type': 'text/x.tlog.size' } : {}).end(text);
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/prefix`,
    vkey,
    sizeOf: (origin) => states.get(origin)?.size ?? 0,
    set: (origin, state) => {
      if (state === null) states.delete(origin);
      else states.set(origin, state);
    },
    statuses,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** Parses a request in the order of the checks of C2SP tlog-witness; a number is the status of a refusal. */
function readRequest(body: string, logVkeys: readonly string[]) {
  const split = body.indexOf('\n\n');
  const [old = '', ...proofLines] = body.slice(0, split).split('\n');
  const note = parseNote(body.slice(split + 2));
  const checkpoint = note === null ? null : parseCheckpointText(note.text);
  if (note === null || checkpoint === null || !/^old \d+$/.test(old)) return 400;
  const verifiers = logVkeys.flatMap((vkey) => parseVkey(vkey) ?? []);
  const known = verifiers.filter((verifier) => verifier.name === checkpoint.origin);
  if (known.length === 0) return 404;
  const isSigned = note.signatures.some((line) => known.some((one) => isSignedBy(one, note.text, line)));
  if (!isSigned) return 403;
  const from = Number(old.slice(4));
  if (from > checkpoint.size) return 400;
  return {
    from,
    checkpoint,
    proof: proofLines.map((line) => Buffer.from(line, 'base64')),
    noteText: note.text,
  };
}

/** 200 if the next tree continues the one that the witness holds; 409: another size, or a fork of the same size. */
function statusFor(
  held: TreeHead,
  { from, next, proof }: { readonly from: number; readonly next: TreeHead; readonly proof: readonly Hash[] },
): 200 | 409 | 422 {
  if (from !== held.size) return 409;
  if (from === next.size && !held.root.equals(next.root)) return 409;
  // An empty tree and an equal one need no proof.
  if (from === 0 || from === next.size) return proof.length === 0 ? 200 : 422;
  return isConsistent(held, next, proof) ? 200 : 422;
}
