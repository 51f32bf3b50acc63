#!/usr/bin/env node
// Verifies an export of the audit log, or the log of a service: docs/audit.md#what-the-verifier-does. It imports nothing of
// ours, so that it and the log are two implementations of one format. In this order: events, tree, notes, files, verdict.
import { isUtf8 } from 'node:buffer';
import { createPublicKey, hash, verify } from 'node:crypto';
import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** The log is wrong at a place. Any other error means that there is no verdict. */
export class WrongLog extends Error {}
const sha256 = (...parts: readonly Buffer[]): Buffer => hash('sha256', Buffer.concat(parts), 'buffer');
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** Returns the RFC 8785 form of a parsed value. */
function canonical(value: unknown, depth = 0): string {
  if (typeof value === 'string' && /\p{Cs}/u.test(value)) throw new WrongLog('it has half a surrogate pair');
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (depth === 100) throw new WrongLog('it has more than 100 levels');
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join(',')}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, item]) => `${canonical(name)}:${canonical(item, depth + 1)}`).join(',')}}`;
}
const digest = (value: unknown): string => hash('sha256', canonical(value), 'hex');
const memberNames = 'data,id,index,metadata,recorded_at,revision,stream,type';

/** Reads the line of one event. The tree covers its entry, in which digests stand for `data` and `metadata`. */
function readLine(bytes: Buffer) {
  const value = (JSON.parse(bytes.toString()) ?? {}) as Record<string, unknown>;
  // Of two members with one name JSON.parse keeps the last. Another reader may show the first, which no hash covers.
  if (!isUtf8(bytes) || JSON.stringify(value) !== bytes.toString())
    throw new WrongLog('it has a member twice, or is not as JSON.stringify writes it');
  const { index, data, metadata, ...rest } = value;
  const { stream, revision } = rest;
  if (Object.keys(value).sort().join() !== memberNames || !isCount(index) || !isCount(revision))
    throw new WrongLog('it has other members');
  const entry = Buffer.from(canonical({ ...rest, data: digest(data), metadata: digest(metadata), v: 1 }));
  const packed = Buffer.concat([Buffer.of(entry.length >> 8, entry.length), entry]);
  return { index, stream: String(stream), revision, packed, hash: sha256(Buffer.of(0), entry) };
}
type Leaf = ReturnType<typeof readLine>;

/** Reads the lines of events. Their leaves must have these hashes. */
function readLines(path: string, bytes: Buffer, first: number, hashes: Buffer): readonly Leaf[] {
  const leaves: Leaf[] = [];
  try {
    for (let at = 0, i = 0; at < bytes.length; at = bytes.indexOf(10, at) + 1, i += 32) {
      const leaf = readLine(bytes.subarray(at, bytes.indexOf(10, at)));
      if (leaf.index !== first + leaves.length) throw new WrongLog(`its line has the index ${leaf.index}`);
      if (!leaf.hash.equals(hashes.subarray(i, i + 32))) throw new WrongLog('its tile has another hash');
      leaves.push(leaf);
    }
    if (leaves.length * 32 < hashes.length) throw new WrongLog('its line is missing');
    return leaves;
  } catch (error) {
    const what = error instanceof WrongLog ? error.message : 'it is no JSON';
    const event = first + Math.min(leaves.length, hashes.length / 32 - 1);
    throw new WrongLog(`${path}, event ${event}: ${what}`, { cause: error });
  }
}

/** Complete subtrees from left to right, of which each has more leaves than the next one. */
type Subtrees = readonly { readonly count: number; readonly root: Buffer }[];

/** Adds hashes on the right, each of which is the root over `count` leaves. */
function grow(subtrees: Subtrees, hashes: Buffer, count = 1): Subtrees {
  const all = [...subtrees];
  for (let at = 0; at < hashes.length; at += 32) {
    let added = { count, root: hashes.subarray(at, at + 32) };
    for (let last = all.at(-1); last?.count === added.count; last = all.at(-1)) {
      all.pop();
      added = { count: 2 * added.count, root: sha256(Buffer.of(1), last.root, added.root) };
    }
    all.push(added);
  }
  return all;
}

/** Returns the Merkle tree hash of RFC 9162, section 2.1.1. */
function rootOf(subtrees: Subtrees): Buffer {
  const [last = sha256(), ...others] = subtrees.map(({ root }) => root).reverse();
  return others.reduce((right, left) => sha256(Buffer.of(1), left, right), last);
}

/** Returns a path of C2SP tlog-tiles, or of events: `x001/x234/067.p/17` is number 1,234,067 of width 17. */
function pathOf(kind: string, n: number, width: number): string {
  const digits = String(n).padStart(Math.ceil(String(n).length / 3) * 3, '0');
  return `${kind}/${digits.replace(/\d{3}(?=\d)/g, 'x$&/')}${width < 256 ? `.p/${width}` : ''}`;
}

/** Reads vkeys (C2SP signed-note), one a line: of logs (type 1) or of witnesses (type 4). */
export function readVkeys(text: string, type: 1 | 4) {
  return (text.match(/^[^#\s].*$/gm) ?? ['an empty file']).map((line) => {
    const [, name = '', id = '', base64 = ''] = /^([^\s+]+)\+([0-9a-f]{8})\+(\S{44})\s*$/.exec(line) ?? [];
    const bytes = Buffer.from(base64, 'base64');
    if (bytes[0] !== type || sha256(Buffer.from(`${name}\n`), bytes).toString('hex', 0, 4) !== id)
      throw new Error(`${line} is no vkey of type ${type}`);
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url', 1) };
    return { name, id, type, key: createPublicKey({ key: jwk, format: 'jwk' }) };
  });
}
type VerifierKeys = ReturnType<typeof readVkeys>;

/** Returns the known signers of a note, by name. A witness (C2SP tlog-cosignature) signs a time with the text. */
function signersOf(text: string, lines: string, keys: VerifierKeys): ReadonlyMap<string, string> {
  const signers = lines.split('\n').flatMap((line): readonly [string, string][] => {
    const [, name = '', base64 = ''] = line.split(' ');
    const bytes = Buffer.from(base64, 'base64');
    const known = keys.find((key) => key.name === name && key.id === bytes.toString('hex', 0, 4));
    if (known === undefined || bytes.toString('base64') !== base64) return [];
    const time = known.type === 4 && bytes.length === 76 ? `time ${bytes.readBigUInt64BE(4)}` : '';
    const message = Buffer.from(time === '' ? text : `cosignature/v1\n${time}\n${text}`);
    if (verify(null, message, known.key, bytes.subarray(time === '' ? 4 : 12))) return [[name, time]];
    throw new WrongLog(`checkpoint: the signature of ${name} is wrong`);
  });
  return new Map(signers);
}

/** Reads a C2SP tlog-checkpoint that a known key of its origin signed. */
export async function readSigned(read: VerifierRead, keys: VerifierKeys) {
  const bytes = await read('checkpoint', 2 ** 18);
  const [, text = '', lines = ''] = /^([^]+\n)\n((?:— \S+ \S+\n)+)$/.exec(bytes.toString()) ?? [];
  const [, origin = '', size, root = ''] = /^(.+)\n(0|[1-9]\d*)\n(.{44})\n(?:.+\n)*$/.exec(text) ?? [];
  if (!isUtf8(bytes) || !isCount(Number(size))) throw new WrongLog('checkpoint: it is no signed checkpoint');
  if (!signersOf(text, lines, keys).has(origin)) throw new WrongLog('checkpoint: no known key signed it');
  return { text, lines, origin, size: Number(size), root: Buffer.from(root, 'base64') };
}
type Checkpoint = Awaited<ReturnType<typeof readSigned>>;

/** Reads a file of at most so many bytes, by its path in the layout of C2SP tlog-tiles. @throws WrongLog where there is none */
export type VerifierRead = (path: string, most: number) => Promise<Buffer>;

/** Opens a log at a URL, an export in a folder, or a checkpoint alone. A link could be a device that never ends. */
function openLog(place: string, token = ''): VerifierRead {
  if (token !== '' && !/^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1|\[::1\]):\d+(\/|$))/.test(place))
    throw new Error('a token needs https');
  if (/^https?:/.test(place)) return (path, most) => download(`${place}/${path}`, most, token);
  const isFolder = statSync(place).isDirectory();
  return async (path, most) => {
    const file = isFolder ? join(place, path) : place;
    const info = isFolder || path === 'checkpoint' ? lstatSync(file, { throwIfNoEntry: false }) : undefined;
    if (info?.isFile() && info.size <= most) return readFile(file);
    throw new WrongLog(`${path}: it is ${info ? 'no plain file, or too long' : 'missing'}`);
  };
}

async function download(url: string, most: number, token: string): Promise<Buffer> {
  const headers = token === '' ? {} : { authorization: `Bearer ${token}` };
  const reply = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(30_000) });
  if (reply.status === 404) throw new WrongLog(`${url}: it is missing`);
  if (!reply.ok) throw new Error(`${url} answers with ${reply.status}`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of (reply.body ?? []) as AsyncIterable<Uint8Array>) {
    most -= chunks.push(chunk) && chunk.length;
    if (most < 0) throw new WrongLog(`${url}: it is too long`);
  }
  return Buffer.concat(chunks);
}

/** Compares tiles with the level above, and lines and entries with their tile. Yields the leaves of each right tile. */
async function* readTree(read: VerifierRead, { size, root }: Checkpoint, report: (error: unknown) => void) {
  type Tile = Awaited<ReturnType<typeof readTile>>;
  const edge: Tile[] = [];
  for (let level = 0; 256 ** level <= size; level += 1)
    edge.unshift(await readTile(level, Math.floor(size / 256 ** (level + 1))));
  const subtrees = edge.reduce<Subtrees>((all, { hashes, level }) => grow(all, hashes, 256 ** level), []);
  const paths = edge.map(({ path }) => path).join(' with ');
  if (!rootOf(subtrees).equals(root)) throw new WrongLog(`checkpoint: it contradicts ${paths}`);
  for (const tile of edge) yield* below(tile);
  async function readTile(level: number, n: number) {
    const [span, width] = [256 ** (level + 1), Math.min(256, Math.floor(size / 256 ** level) - n * 256)];
    const path = pathOf(`tile/${level}`, n, width);
    const hashes = width === 0 ? Buffer.of() : await read(path, width * 32);
    if (hashes.length < width * 32) throw new WrongLog(`${path}: it is too short`);
    return { level, n, width, path, hashes, place: `${path}, events ${n * span} to ${(n + 1) * span - 1}` };
  }
  async function* below({ level, n, width, path, hashes }: Tile): AsyncGenerator<readonly Leaf[]> {
    if (level === 0 && width > 0) yield readEvents(n, width, hashes);
    for (let i = 0; level > 0 && i < width; i += 1) {
      try {
        const tile = await readTile(level - 1, n * 256 + i);
        const isProven = rootOf(grow([], tile.hashes)).equals(hashes.subarray(i * 32, i * 32 + 32));
        if (!isProven) throw new WrongLog(`${tile.place}: it contradicts ${path}`);
        yield* below(tile);
      } catch (error) {
        report(error);
      }
    }
  }
  async function readEvents(n: number, width: number, hashes: Buffer): Promise<readonly Leaf[]> {
    const [path, bundlePath] = [pathOf('events', n, width), pathOf('tile/entries', n, width)];
    const leaves = readLines(path, await read(path, 2 ** 28), n * 256, hashes);
    const bundle = await read(bundlePath, width * 65_537);
    let at = 0;
    for (const { index, packed } of leaves)
      if (!packed.equals(bundle.subarray(at, (at += packed.length))))
        throw new WrongLog(`${bundlePath}, event ${index}: it has another entry than its line`);
    if (at !== bundle.length) throw new WrongLog(`${bundlePath}: it goes on after its last entry`);
    return leaves;
  }
}

/** Follows the leaves of a log: their root, the revisions of each stream, and what was kept. */
function makeHistory({ kept, mostStreams }: VerifierInput) {
  const next = new Map<string, number>();
  const seen = { log: [] as Subtrees, size: 0, gap: '', unchecked: 0, fork: '', agrees: kept?.size === 0 };
  return { seen, add, problemsOf };
  async function add(leaves: readonly Leaf[]): Promise<void> {
    for (const { index, stream, revision } of leaves) {
      const expected = next.get(stream) ?? (next.size < mostStreams ? 0 : -1);
      if (expected === -1) seen.unchecked += 1;
      else if (expected === revision) next.set(stream, revision + 1);
      else seen.gap ||= `event ${index}: revision ${revision} of "${stream}" is not ${expected}`;
    }
    const [hashes, { size, log }] = [Buffer.concat(leaves.map((leaf) => leaf.hash)), seen];
    if (kept && kept.size > size) {
      const shared = hashes.subarray(0, (kept.size - size) * 32);
      const path = pathOf('tile/0', size / 256, Math.min(256, kept.size - size));
      // A checkpoint alone has no tiles. Then its root decides.
      const old = await kept.read(path, 8192).catch(() => shared);
      const byte = shared.findIndex((value, at) => value !== old[at]);
      if (byte !== -1) seen.fork ||= `event ${size + Math.floor(byte / 32)}`;
      seen.agrees = rootOf(grow(log, shared)).equals(kept.root);
    }
    seen.log = grow(log, hashes);
    seen.size += leaves.length;
  }
  function* problemsOf({ origin, size, root }: Checkpoint): Generator<string> {
    if (!rootOf(seen.log).equals(root)) yield 'checkpoint: its root is not that of the events';
    if (seen.gap !== '') yield seen.gap;
    if (kept === undefined) return;
    if (kept.origin !== origin) yield `checkpoint: what was kept is of another log, "${kept.origin}"`;
    if (kept.size > size) yield `checkpoint, events ${size} to ${kept.size - 1}: they are cut off`;
    const place = seen.fork || (kept.size > size ? '' : `events 0 to ${kept.size - 1}`);
    if (!seen.agrees && place !== '') yield `checkpoint, ${place}: another history was kept`;
  }
}

/** Verifies a log, and prints the problems and the verdict. Returns whether it is verified. */
export async function verifyLog(input: VerifierInput, print: (line: string) => void): Promise<boolean> {
  let problems = 0;
  const report = (error: unknown): void => {
    if (!(error instanceof WrongLog)) throw error;
    problems += 1;
    print(`- ${error.message}`);
  };
  try {
    const signed = await readSigned(input.read, input.keys);
    const { text, lines, origin, size, root } = signed;
    print(`Log: ${size} events of "${origin}", root ${root.toString('base64')}`);
    const { add, problemsOf, seen } = makeHistory(input);
    for await (const leaves of readTree(input.read, signed, report)) if (problems === 0) await add(leaves);
    if (problems === 0) for (const problem of problemsOf(signed)) report(new WrongLog(problem));
    if (seen.unchecked > 0) print(`Not compared: the revisions of ${seen.unchecked} events`);
    const cosigners = signersOf(text, lines, input.witnesses);
    for (const [name, time] of cosigners) print(`Cosigned by ${name} at ${time}`);
    if (cosigners.size < input.quorum) throw new WrongLog('checkpoint: it has too few cosignatures');
  } catch (error) {
    report(error);
  }
  print(input.kept ? `Kept: ${input.kept.size} events` : 'First time: no earlier checkpoint was given');
  print(problems === 0 ? 'VERIFIED' : `NOT VERIFIED: ${problems} problems`);
  return problems === 0;
}

/** Runs the command line. Returns the exit code: 0 for verified, 1 for not, 2 where there is no verdict. */
export async function runVerifier(args: readonly string[], print: (line: string) => void) {
  const say = (line: string) => {
    print(line.replace(/[^ -~]/gu, (c) => `\\u{${c.codePointAt(0)?.toString(16) ?? ''}}`));
  };
  try {
    return (await verifyLog(await readArguments(args), say)) ? 0 : 1;
  } catch (error) {
    say(`No verdict: ${error instanceof Error ? error.message : String(error)}`);
    return 2;
  }
}

const usage = `usage: stowage-verify <folder or URL> --key <vkey file> [--kept <checkpoint or older export>] [--witness <vkey file> --quorum n] [--token <file>]`;
async function readArguments(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const options = { key: text, kept: text, witness: text, quorum: text, token: text };
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
  const file = (path: string): string => readFileSync(path, 'utf8');
  const witnesses = values.witness === undefined ? [] : readVkeys(file(values.witness), 4);
  const quorum = Number(values.quorum ?? witnesses.length);
  if (positionals.length !== 1 || !values.key || !(quorum <= witnesses.length)) throw new Error(usage);
  const keys = readVkeys(file(values.key), 1);
  const token = values.token && /[!-~]+/.exec(file(values.token))?.[0];
  const read = openLog(String(positionals[0]).replace(/\/+$/, ''), token);
  const old = values.kept === undefined ? undefined : openLog(values.kept);
  const kept = old && { read: old, ...(await readSigned(old, keys)) };
  return { read, keys, kept, witnesses, quorum, mostStreams: 1_000_000 };
}
type VerifierInput = Awaited<ReturnType<typeof readArguments>>;

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  process.exitCode = await runVerifier(process.argv.slice(2), console.log);
