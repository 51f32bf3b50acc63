import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { entryOf } from '../../../src/areas/audit/tree/canonical-json.js';
import { leafHash, rootOf } from '../../../src/areas/audit/tree/merkle.js';
import {
  checkpointText,
  makeNoteSigner,
  noteOf,
  type NoteSigner,
} from '../../../src/areas/audit/tree/note.js';
import { tilePath, tileWidth } from '../../../src/areas/audit/tree/tiles.js';
import {
  readSigned,
  readVkeys,
  type VerifierRead,
  verifyLog,
  WrongLog,
} from '../../../src/areas/audit/verify.js';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';

/** An event as a line of an export has it. */
export interface ExportedEvent {
  readonly id: string;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly recorded_at: string;
  readonly data: JsonObject;
  readonly metadata: JsonObject;
}

/** The files of an export by their paths. */
export type ExportFiles = ReadonlyMap<string, Buffer>;

export const auditOrigin = 'stowage/2f1c9a4e';

const logKeys = new Map<string, NoteSigner>();

/** The key of a log, the same in each run. */
export function givenLogKey(name = auditOrigin, seed = 1): NoteSigner {
  const known = logKeys.get(`${seed} ${name}`) ?? makeNoteSigner(name, Buffer.alloc(32, seed));
  logKeys.set(`${seed} ${name}`, known);
  return known;
}

/** Texts that two implementations of JSON could treat differently. */
const texts = [
  'Rhine at dawn',
  'Zürich — 東京',
  '"quoted" \\ /',
  '\u0000\u001f\u007f\u2028',
  '😀 𝔘',
  '\uffff\ufffd',
  '',
];
const numbers = [0, -1, 1.5, 1e21, 1e-7, 123456789012345680000, 5e-324, 0.1, 2 ** 53];

/** Makes events of some streams, each without a gap. The times do not decrease. */
export function givenAuditEvents(random: () => number, count: number): ExportedEvent[] {
  const revisions: number[] = [];
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const started = Date.UTC(2026, 0, 1);
  return Array.from({ length: count }, (_, index) => {
    const at = Math.floor(random() * Math.min(revisions.length + 1, 50));
    const revision = (revisions[at] ??= 0);
    revisions[at] = revision + 1;
    return {
      id: `${index.toString(16).padStart(8, '0')}-0000-7000-8000-${Math.floor(random() * 2 ** 40)
        .toString(16)
        .padStart(12, '0')}`,
      stream: `${pick(['project', 'share', 'storage'])}-${at}`.replace(
        /^\w+/,
        ['project', 'share', 'storage'][at % 3] ?? '',
      ),
      revision,
      type: pick(['ProjectCreated', 'ShareOpened', 'StorageBound', 'Umgezogen→']),
      recorded_at: new Date(started + index * 1000 + Math.floor(random() * 900)).toISOString(),
      data: {
        name: pick(texts),
        amount: pick(numbers),
        nested: {
          list: [pick(texts), null, true, pick(numbers)],
          é: {},
          e: [],
          [pick(texts)]: pick(numbers),
        },
      },
      metadata: { actor: `user-${Math.floor(random() * 9)}`, correlation_id: pick(texts) },
    };
  });
}

/** Returns the line of an event, without its line break. */
function exportedLine(index: number, event: ExportedEvent): string {
  const { id, stream, revision, type, recorded_at, data, metadata } = event;
  return JSON.stringify({ index, id, stream, revision, type, recorded_at, data, metadata });
}

/** Writes an entry with another program's form of RFC 8785. */
function entryBy(canonical: (value: unknown) => string, event: ExportedEvent): string {
  const { id, stream, revision, type, recorded_at, data, metadata } = event;
  const digest = (value: unknown): string => createHash('sha256').update(canonical(value)).digest('hex');
  return canonical({
    v: 1,
    id,
    stream,
    revision,
    type,
    recorded_at,
    data: digest(data),
    metadata: digest(metadata),
  });
}

/** A campaign exports the same events thousands of times, each time beside another forged one. */
const knownLeaves = new WeakMap<ExportedEvent, { readonly entry: string; readonly hash: Buffer }>();

function leafOfExported(event: ExportedEvent): { readonly entry: string; readonly hash: Buffer } {
  const known = knownLeaves.get(event);
  if (known !== undefined) return known;
  const { revision, recorded_at } = event;
  const entry = entryOf({ ...event, revision: BigInt(revision), recordedAt: new Date(recorded_at) });
  const leaf = { entry, hash: leafHash(entry) };
  knownLeaves.set(event, leaf);
  return leaf;
}

const inTiles = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / tileWidth) }, (_, n) =>
    items.slice(n * tileWidth, (n + 1) * tileWidth),
  );

function bundleOf(entries: readonly string[]): Buffer {
  return Buffer.concat(
    entries.flatMap((entry) => {
      const bytes = Buffer.from(entry);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(bytes.length);
      return [length, bytes];
    }),
  );
}

/** Writes the tiles of all levels over leaf hashes. */
export function tilesOf(leaves: readonly Buffer[]): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  let hashes = leaves;
  for (let level = 0; hashes.length > 0; level += 1) {
    const tiles = inTiles(hashes);
    tiles.forEach((tile, index) => {
      files.set(tilePath({ kind: 'tile', level, index, width: tile.length }), Buffer.concat(tile));
    });
    hashes = tiles.filter((tile) => tile.length === tileWidth).map(rootOf);
  }
  return files;
}

/** What differs from the log of most tests. */
interface ExportChoices {
  readonly origin?: string;
  /** The witnesses that add their cosignatures. */
  readonly witnesses?: readonly Witness[];
  /** Another program that writes RFC 8785, in place of the log's own code. */
  readonly canonical?: (value: unknown) => string;
}

/** Signs the checkpoint of a tree. */
function signedCheckpoint(
  leaves: readonly Buffer[],
  signers: readonly NoteSigner[] = [givenLogKey()],
  { origin = auditOrigin, witnesses = [] }: ExportChoices = {},
): Buffer {
  const text = checkpointText({ origin, size: leaves.length, root: rootOf(leaves) });
  const cosignatures = witnesses.map((witness) => witness.cosign(text));
  return Buffer.from(noteOf(text, [...signers.map((signer) => signer.sign(text)), ...cosignatures]));
}

/** Makes the files of an export as the log does, by the parts of the log. */
export function exportFilesOf(
  events: readonly ExportedEvent[],
  signers?: readonly NoteSigner[],
  choices: ExportChoices = {},
): Map<string, Buffer> {
  const { canonical } = choices;
  const entries = events.map((event) =>
    canonical === undefined ? leafOfExported(event).entry : entryBy(canonical, event),
  );
  const leaves =
    canonical === undefined ? events.map((event) => leafOfExported(event).hash) : entries.map(leafHash);
  const files = tilesOf(leaves);
  inTiles(entries).forEach((tile, index) => {
    files.set(tilePath({ kind: 'entries', level: 0, index, width: tile.length }), bundleOf(tile));
  });
  inTiles(events).forEach((tile, index) => {
    const lines = tile.map((event, at) => `${exportedLine(index * tileWidth + at, event)}\n`);
    files.set(tilePath({ kind: 'events', level: 0, index, width: tile.length }), Buffer.from(lines.join('')));
  });
  return files.set('checkpoint', signedCheckpoint(leaves, signers, choices));
}

export function writeExport(folder: string, files: ExportFiles): void {
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
}

/** Serves an export from memory to the verifier. */
function memoryRead(files: ExportFiles): VerifierRead {
  return (path, most) => {
    const bytes = files.get(path);
    const isFit = bytes !== undefined && bytes.length <= most;
    return isFit
      ? Promise.resolve(bytes)
      : Promise.reject(new WrongLog(`${path}: it is missing or too long`));
  };
}

/** A problem that the verifier printed, by its parts. `first` and `last`: the events, if it names them. */
interface FoundProblem {
  readonly path: string;
  readonly what: string;
  readonly first?: number;
  readonly last?: number;
}

/** What the auditor gives to the verifier, in memory. */
export interface GivenToVerifier {
  /** Vkeys, one a line. */
  readonly keys?: string;
  readonly kept?: ExportFiles;
  readonly witnesses?: string;
  readonly quorum?: number;
  readonly mostStreams?: number;
  /** Whether the verifier reads as from a service: by few requests. */
  readonly isLive?: boolean;
}

export interface PrintedVerdict {
  readonly isVerified: boolean;
  readonly places: readonly FoundProblem[];
  /** All that was printed. */
  readonly text: string;
}

/** Verifies an export in memory, and reads what the verifier prints. */
export async function verifyInMemory(
  files: ExportFiles,
  given: GivenToVerifier = {},
): Promise<PrintedVerdict> {
  const { keys = givenLogKey().vkey, kept, witnesses, quorum, mostStreams = 10_000, isLive = false } = given;
  const printed: string[] = [];
  const known = readVkeys(keys, 1);
  const witnessKeys = witnesses === undefined ? [] : readVkeys(witnesses, 4);
  const old = kept && { ...(await readSigned(memoryRead(kept), known)), read: memoryRead(kept) };
  const input = {
    read: memoryRead(files),
    keys: known,
    kept: old,
    witnesses: witnessKeys,
    mostStreams,
    isLive,
  };
  const isVerified = await verifyLog({ ...input, quorum: quorum ?? witnessKeys.length }, (line) => {
    printed.push(line);
  });
  const places = printed.filter((line) => line.startsWith('- ')).map(problemIn);
  return { isVerified, places, text: printed.join('\n') };
}

function problemIn(line: string): FoundProblem {
  const [, place = '', what = ''] = /^- (.*?): (.*)$/s.exec(line) ?? [];
  const [, path = '', one, first, last] =
    /^(.*?)(?:(?:, |^)event (\d+)|, events (\d+) to (\d+))?$/.exec(place) ?? [];
  if (one !== undefined) return { path, what, first: Number(one), last: Number(one) };
  return first === undefined ? { path, what } : { path, what, first: Number(first), last: Number(last) };
}

/** A witness of C2SP tlog-cosignature, version 1. */
export interface Witness {
  readonly vkey: string;
  /** Returns the line of its cosignature. */
  readonly cosign: (text: string) => string;
}

export function givenWitness(name: string, seed: number): Witness {
  const seconds = 1_767_225_600;
  const header = Buffer.from('302e020100300506032b657004220420', 'hex');
  const key = createPrivateKey({
    key: Buffer.concat([header, Buffer.alloc(32, seed)]),
    format: 'der',
    type: 'pkcs8',
  });
  const typed = Buffer.concat([
    Buffer.of(4),
    createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(12),
  ]);
  const id = createHash('sha256').update(`${name}\n`).update(typed).digest().subarray(0, 4);
  return {
    vkey: `${name}+${id.toString('hex')}+${typed.toString('base64')}`,
    cosign: (text) => {
      const time = Buffer.alloc(8);
      time.writeBigUInt64BE(BigInt(seconds));
      const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`), key);
      return `— ${name} ${Buffer.concat([id, time, signature]).toString('base64')}`;
    },
  };
}
