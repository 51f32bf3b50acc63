#!/usr/bin/env node
// Verifies an export of the audit log, or the log of a service: docs/audit.md#what-the-verifier-does. It imports nothing of
// ours, so that it and the log are two implementations of one format. In this order: events, tree, notes, files, verdict.
import { isUtf8 } from 'node:buffer';
import { createPublicKey, hash, randomBytes, verify } from 'node:crypto';
import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
/** The log is wrong at a place. Any other error means that there is no verdict. */
export class WrongLog extends Error {}
const sha256 = (...parts: readonly Buffer[]) => Buffer.from(hash('sha256', Buffer.concat(parts)), 'hex');
const nodeHash = (left: Buffer, right: Buffer) => sha256(Buffer.of(1), left, right);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
/** Returns the RFC 8785 form of a parsed value. `sort` compares UTF-16 code units, as its section 3.2.3 demands. */
function canonical(value: unknown, depth = 0): string {
  if (typeof value === 'string' && !/[^ !#-[\]-~]/.test(value)) return `"${value}"`;
  if (typeof value === 'string' && !value.isWellFormed()) throw new WrongLog('it has half a surrogate pair');
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (depth === 100) throw new WrongLog('it has more than 100 levels');
  const write = (part: unknown): string => canonical(part, depth + 1);
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  const member = (name: string) => `${canonical(name)}:${write((value as Record<string, unknown>)[name])}`;
  return `{${Object.keys(value).sort().map(member).join(',')}}`;
}
const memberNames = 'index,id,stream,revision,type,recorded_at,data,metadata';
/** Reads the line of one event. The tree covers its entry, in which digests stand for `data` and `metadata`. */
function readLine(bytes: Buffer) {
  const line = bytes.toString();
  const value = (JSON.parse(line) ?? {}) as Record<string, unknown>;
  // Of two members with one name JSON.parse keeps the last. Another reader may show the first, which no hash covers.
  if (!isUtf8(bytes) || JSON.stringify(value) !== line)
    throw new WrongLog('it has a member twice, or is not as JSON.stringify writes it');
  const { index, id, stream, revision, type, recorded_at } = value;
  if (Object.keys(value).join() !== memberNames || !isCount(index) || !isCount(revision))
    throw new WrongLog('it has other members');
  const [data, metadata] = [value['data'], value['metadata']].map((part) => hash('sha256', canonical(part)));
  const [a, b, c, d] = [id, recorded_at, stream, type].map((part) => canonical(part));
  const entry = `{"data":"${data}","id":${a},"metadata":"${metadata}","recorded_at":${b},"revision":${revision},"stream":${c},"type":${d},"v":1}`;
  const packed = Buffer.from(`\0\0${entry}`);
  packed.set([(packed.length - 2) >> 8, packed.length - 2]);
  return { index, stream: String(stream), revision, packed, hash: hash('sha256', `\0${entry}`) };
}
type Leaf = ReturnType<typeof readLine>;
/** Reads the lines of a tile. Their leaves must have its hashes. Without hashes, returns no leaves where a line is wrong. */
async function readLines(read: VerifierRead, n: number, width: number, hashes?: Buffer) {
  const [path, leaves]: [string, Leaf[]] = [pathOf('events', n, width), []];
  const bytes = await read(path, 2 ** 28);
  try {
    for (let at = 0, end = 0; at < bytes.length; at = end + 1) {
      end = bytes.indexOf(10, at);
      const leaf = readLine(bytes.subarray(at, end));
      if (leaf.index !== n * 256 + leaves.length) throw new WrongLog(`its line has the index ${leaf.index}`);
      const expected = hashes?.toString('hex', leaves.length * 32, leaves.length * 32 + 32);
      if (leaf.hash !== (expected ?? leaf.hash)) throw new WrongLog('its tile has another hash');
      leaves.push(leaf);
    }
    if (leaves.length < width) throw new WrongLog('its line is missing');
    return leaves;
  } catch (error) {
    if (hashes === undefined) return [];
    const what = error instanceof WrongLog ? error.message : 'it is no JSON';
    throw new WrongLog(`${path}, event ${n * 256 + Math.min(leaves.length, width - 1)}: ${what}`);
  }
}
const hashesOf = (leaves: readonly Leaf[]) => Buffer.from(leaves.map((leaf) => leaf.hash).join(''), 'hex');
/** Complete subtrees from left to right, of which each has more leaves than the next one. */
type Subtrees = readonly { readonly count: number; readonly root: Buffer }[];
/** Adds hashes on the right, each of which is the root over `count` leaves. */
function grow(subtrees: Subtrees, hashes: Buffer, count = 1): Subtrees {
  const all = [...subtrees];
  for (let at = 0; at < hashes.length; at += 32) {
    let added = { count, root: hashes.subarray(at, at + 32) };
    for (let last = all.at(-1); last?.count === added.count; last = all.at(-1))
      added = { count: 2 * added.count, root: nodeHash(all.pop()?.root ?? last.root, added.root) };
    all.push(added);
  }
  return all;
}
/** Returns the Merkle tree hash of RFC 9162, section 2.1.1. */
function rootOf(subtrees: Subtrees): Buffer {
  const [last = sha256(), ...others] = subtrees.map(({ root }) => root).reverse();
  return others.reduce((right, left) => nodeHash(left, right), last);
}
/** Returns a path of C2SP tlog-tiles, or of events: `x001/x234/067.p/17` is number 1,234,067 of width 17. */
function pathOf(kind: string, n: number, width: number): string {
  const digits = String(n).padStart(Math.ceil(String(n).length / 3) * 3, '0');
  return `${kind}/${digits.replace(/\d{3}(?=\d)/g, 'x$&/')}${width < 256 ? `.p/${width}` : ''}`;
}
/** Reads vkeys (C2SP signed-note), one a line: of logs (type 1) or of witnesses (type 4). */
export function readVkeys(text: string, type: 1 | 4) {
  return (text.match(/^(?![ \t]*(?:#|$)).+$/gm) ?? ['an empty file']).map((line) => {
    const [, name = '', id = '', base64 = ''] = /^([^\s+]+)\+([0-9a-f]{8})\+(\S{44})\s*$/.exec(line) ?? [];
    const bytes = Buffer.from(base64, 'base64');
    if (bytes[0] !== type || sha256(Buffer.from(`${name}\n`), bytes).toString('hex', 0, 4) !== id)
      throw new Error(`${line} is no vkey of type ${type}`);
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url', 1) };
    return { name, id, type, key: createPublicKey({ key: jwk, format: 'jwk' }) };
  });
}
/** Returns the known signers of a note, by name. A witness (C2SP tlog-cosignature) signs a time with the text. */
function signersOf(text: string, lines: string, keys: ReturnType<typeof readVkeys>) {
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
export async function readSigned(read: VerifierRead, keys: ReturnType<typeof readVkeys>) {
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
  return (path, most) => {
    const file = isFolder ? join(place, path) : place;
    const info = isFolder || path === 'checkpoint' ? lstatSync(file, { throwIfNoEntry: false }) : undefined;
    if (info?.isFile() && info.size <= most) return Promise.resolve(readFileSync(file));
    return Promise.reject(new WrongLog(`${path}: it is ${info ? 'no plain file, or too long' : 'missing'}`));
  };
}
/** Downloads a file. Waits as `Retry-After` says, at most ten times and 2 minutes each: a service limits its requests. */
async function download(url: string, most: number, token: string, waits = 10): Promise<Buffer> {
  const headers = token === '' ? {} : { authorization: `Bearer ${token}` };
  const reply = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(30_000) });
  if (reply.status === 404) throw new WrongLog(`${url}: it is missing`);
  const seconds = Number(reply.headers.get('retry-after') ?? Infinity);
  if (!reply.ok && !(seconds <= 120 && waits > 0)) throw new Error(`${url} answers with ${reply.status}`);
  if (!reply.ok) return setTimeout(seconds * 1000).then(() => download(url, most, token, waits - 1));
  const chunks: Uint8Array[] = [];
  for await (const chunk of reply.body as AsyncIterable<Uint8Array>)
    if ((most -= chunks.push(chunk) && chunk.length) < 0) throw new WrongLog(`${url}: it is too long`);
  return Buffer.concat(chunks);
}
/** Compares tiles with the level above, and lines and entries with their tile. Yields the leaves of each right tile. */
async function* readTree(input: VerifierInput, { size, root }: Checkpoint, report: (e: unknown) => void) {
  const { read, isLive } = input;
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
      const check = (of: Buffer) => rootOf(grow([], of)).equals(hashes.subarray(i * 32, i * 32 + 32));
      try {
        // Lines with the right root need no tile. Of other lines, the tile says which one is wrong.
        const leaves = isLive && level === 1 ? await readLines(read, n * 256 + i, 256) : [];
        const tile = check(hashesOf(leaves)) ? null : await readTile(level - 1, n * 256 + i);
        if (tile && !check(tile.hashes)) throw new WrongLog(`${tile.place}: it contradicts ${path}`);
        yield* tile ? below(tile) : [leaves];
      } catch (error) {
        report(error);
      }
    }
  }
  async function readEvents(n: number, width: number, hashes: Buffer): Promise<readonly Leaf[]> {
    const leaves = await readLines(read, n, width, hashes);
    if (isLive) return leaves;
    const bundlePath = pathOf('tile/entries', n, width);
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
  // A slot: 96 bits of a hash of a stream's name, and the number of its events. The secret prevents chosen collisions.
  const [slots, secret] = [new Uint32Array(2 ** Math.ceil(2.4 + Math.log2(mostStreams))), randomBytes(16)];
  const seen = { log: [] as Subtrees, size: 0, gap: '', unchecked: 0, fork: '', agrees: kept?.size === 0 };
  let streams = 0;
  return { seen, add, problemsOf };
  function follow({ index, stream, revision }: Leaf): void {
    const name = sha256(secret, Buffer.from(stream));
    const [a, b, c] = [name.readUInt32LE(0), name.readUInt32LE(4), name.readUInt32LE(8)];
    let at = (name.readUInt32LE(12) * 4) % slots.length;
    while (slots[at + 3] && (slots[at] !== a || slots[at + 1] !== b || slots[at + 2] !== c))
      at = (at + 4) % slots.length;
    const expected = slots[at + 3] ?? 0;
    if (expected === 0 && streams === mostStreams) seen.unchecked += 1;
    else if (expected === revision) {
      slots.set([a, b, c, revision + 1], at);
      streams += revision === 0 ? 1 : 0;
    } else seen.gap ||= `event ${index}: revision ${revision} of "${stream}" is not ${expected}`;
  }
  async function add(leaves: readonly Leaf[]): Promise<void> {
    leaves.forEach(follow);
    const [hashes, { size, log }] = [hashesOf(leaves), seen];
    if (kept && kept.size > size) {
      const shared = hashes.subarray(0, (kept.size - size) * 32);
      const path = pathOf('tile/0', size / 256, Math.min(256, kept.size - size));
      const old = await kept.read(path, 8192).catch(() => shared); // A checkpoint alone has no tiles: its root decides.
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
    print(`Log: ${signed.size} events of "${signed.origin}", root ${signed.root.toString('base64')}`);
    const { add, problemsOf, seen } = makeHistory(input);
    for await (const leaves of readTree(input, signed, report)) if (problems === 0) await add(leaves);
    if (problems === 0) for (const problem of problemsOf(signed)) report(new WrongLog(problem));
    if (input.isLive) print('Not read: entries, and tiles of events that the tiles above prove');
    if (seen.unchecked > 0) print(`Not compared: the revisions of ${seen.unchecked} events`);
    const cosigners = signersOf(signed.text, signed.lines, input.witnesses);
    for (const [name, time] of cosigners) print(`Cosigned by ${name} at ${time}`);
    if (cosigners.size < input.quorum) throw new WrongLog('checkpoint: it has too few cosignatures');
  } catch (error) {
    report(error);
  }
  print(input.kept ? `Kept: ${input.kept.size} events` : 'First time: no earlier checkpoint was given');
  print(problems === 0 ? 'VERIFIED' : `NOT VERIFIED: ${problems} problems`);
  return problems === 0;
}
/** Runs the command line. Returns the exit code: 0 for verified and for help, 1 for not verified, 2 for no verdict. */
export async function runVerifier(args: readonly string[], print: (line: string) => void) {
  const say = (line: string) => {
    print(line.replace(/[^ -~]/gu, (c) => `\\u{${c.codePointAt(0)?.toString(16) ?? ''}}`));
  };
  const isHelp = /^(--help|-h)$/.test(args.join(' ')); // With other arguments, 0 would say that a log is verified.
  try {
    return (await verifyLog(await readArguments(args), say)) ? 0 : 1;
  } catch (error) {
    say(isHelp ? usage : `No verdict: ${error instanceof Error ? error.message : String(error)}`);
    return isHelp ? 0 : 2;
  }
}
const usage = `usage: stowage-verify <folder or URL> --key <vkey file> [--kept <checkpoint or older export>] [--witness <vkey file> --quorum n] [--token <file>]`;
async function readArguments(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const options = { key: text, kept: text, witness: text, quorum: text, token: text };
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
  const file = (path: string): string => readFileSync(path, 'utf8');
  const witnesses = values.witness === undefined ? [] : readVkeys(file(values.witness), 4);
  const quorum = /^[1-9]\d*$/.test(values.quorum ?? '1') ? Number(values.quorum ?? witnesses.length) : NaN;
  if (positionals.length !== 1 || !values.key || !(quorum <= witnesses.length)) throw new Error(usage);
  const keys = readVkeys(file(values.key), 1);
  const token = values.token && /[!-~]+/.exec(file(values.token))?.[0];
  const place = String(positionals[0]).replace(/\/+$/, '');
  const [read, old] = [openLog(place, token), values.kept === undefined ? undefined : openLog(values.kept)];
  const kept = old && { read: old, ...(await readSigned(old, keys)) };
  return { read, isLive: /^https?:/.test(place), keys, kept, witnesses, quorum, mostStreams: 1_500_000 };
}
type VerifierInput = Awaited<ReturnType<typeof readArguments>>;
if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === import.meta.filename)
  process.exitCode = await runVerifier(process.argv.slice(2), console.log);
