import { bytesOf, joinLines, linesOf, withFiles } from './altered-export.js';
import {
  auditOrigin,
  type ExportedEvent,
  exportFilesOf,
  type ExportFiles,
  givenLogKey,
  type GivenToVerifier,
  type PrintedVerdict,
} from './audit-export.js';
import { pick } from '../fakes/clock.js';

/** A log, and an export of its beginning that the auditor kept. */
export interface TamperBase {
  readonly events: readonly ExportedEvent[];
  readonly files: ExportFiles;
  readonly keptSize: number;
  readonly kept: ExportFiles;
}

/** A tampered export, and what the verifier must say of it: `complaint` returns what is wrong with its verdict. */
interface Tampered {
  readonly files: ExportFiles;
  readonly given: GivenToVerifier;
  readonly complaint: (verdict: PrintedVerdict) => string | null;
}

type Random = () => number;
/** Returns null where the export does not allow this tampering, or it would change nothing. */
type Tamper = (base: TamperBase, random: Random) => Tampered | null;

const below = (random: Random, count: number): number => Math.floor(random() * count);

/** Makes a log of a size that is random, but often near the width of a tile. */
export function givenTamperBase(random: Random, events: readonly ExportedEvent[]): TamperBase {
  const keptSize = 1 + below(random, events.length);
  return { events, files: exportFilesOf(events), keptSize, kept: exportFilesOf(events.slice(0, keptSize)) };
}

type ByteChange = (bytes: Buffer, random: Random) => Buffer;

const splice = (bytes: Buffer, at: number, remove: number, insert: Buffer = Buffer.alloc(0)): Buffer =>
  Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + remove)]);

/** Changes of bytes that know no format. */
const byteChanges: Readonly<Record<string, ByteChange>> = {
  'a flipped bit': (bytes, random) => {
    const at = below(random, bytes.length);
    return splice(bytes, at, 1, Buffer.of((bytes[at] ?? 0) ^ (1 << below(random, 8))));
  },
  'bytes of 0xFF': (bytes, random) => {
    const count = 1 + below(random, 3);
    return splice(bytes, below(random, bytes.length), count, Buffer.alloc(count, 255));
  },
  'removed bytes': (bytes, random) => splice(bytes, below(random, bytes.length), 1 + below(random, 900)),
  'inserted bytes': (bytes, random) => {
    const inserted = Buffer.from(Array.from({ length: 1 + below(random, 40) }, () => below(random, 256)));
    return splice(bytes, below(random, bytes.length + 1), 0, inserted);
  },
  'an inserted line break': (bytes, random) =>
    splice(bytes, below(random, bytes.length + 1), 0, Buffer.from('\n')),
  'swapped bytes': (bytes, random) => {
    const [a, b] = [below(random, bytes.length), below(random, bytes.length)];
    const swapped = Buffer.from(bytes);
    [swapped[a], swapped[b]] = [bytes[b] ?? 0, bytes[a] ?? 0];
    return swapped;
  },
  'a truncated file': (bytes, random) => bytes.subarray(0, below(random, bytes.length)),
  'a repeated end': (bytes, random) => Buffer.concat([bytes, bytes.subarray(below(random, bytes.length))]),
};

/** The indexes of the events whose line is not in the file any more. */
function goneFrom(files: ExportFiles, path: string, changed: Buffer): readonly number[] {
  // Latin-1 keeps each byte, whether the file is UTF-8 or not. Bytes after the last line break are no line.
  const left = new Set(changed.toString('latin1').split('\n').slice(0, -1));
  const lines = bytesOf(files, path).toString('latin1').split('\n').slice(0, -1);
  return lines.flatMap((line) => (left.has(line) ? [] : [(JSON.parse(line) as { index: number }).index]));
}

/** Expects a place in the file: its first event that is gone, if there is one. */
function expectEvents(path: string, indexes: readonly number[]): Tampered['complaint'] {
  return ({ places }) => {
    if (!places.every((place) => place.path === path)) return `a place is not in ${path}`;
    if (indexes.length === 0) return null;
    const index = Math.min(...indexes);
    return places.some(({ first, last }) => first === index && last === index)
      ? null
      : `no place is the event ${index}`;
  };
}

/** Expects a place in the file, or a place that names it, and no accusation of an event. */
function expectFile(path: string): Tampered['complaint'] {
  return ({ places }) => {
    if (places.some((place) => place.path.startsWith('events/'))) return 'an event is accused';
    const isNamed = places.some((place) => place.path === path || place.what.includes(path));
    return isNamed ? null : `no place names ${path}`;
  };
}

function expectFor(files: ExportFiles, path: string, changed: Buffer | null): Tampered['complaint'] {
  if (path === 'checkpoint') return expectCheckpoint;
  if (!path.startsWith('events/')) return expectFile(path);
  return expectEvents(path, changed === null ? [] : goneFrom(files, path, changed));
}

/** Whether two notes differ only in how often a signature line stands in them. C2SP signed-note permits that. */
function isSameNote(one: Buffer, other: Buffer): boolean {
  const [linesOfOne, linesOfOther] = [one, other].map((note) => note.toString('latin1').split('\n'));
  return (
    [...new Set(linesOfOne)].join('\n') === [...new Set(linesOfOther)].join('\n') && one.length > other.length
  );
}

const inBytes =
  (change: ByteChange): Tamper =>
  ({ files }, random) => {
    const path = pick(random, [...files.keys()]);
    const bytes = bytesOf(files, path);
    const changed = change(bytes, random);
    if (changed.equals(bytes) || (path === 'checkpoint' && isSameNote(changed, bytes))) return null;
    return {
      files: withFiles(files, { [path]: changed }),
      given: {},
      complaint: expectFor(files, path, changed),
    };
  };

const removeFile: Tamper = ({ files }, random) => {
  const path = pick(random, [...files.keys()]);
  return { files: withFiles(files, { [path]: null }), given: {}, complaint: expectFor(files, path, null) };
};

const eventsPaths = (files: ExportFiles): string[] =>
  [...files.keys()].filter((path) => path.startsWith('events/'));

type LineChange = (lines: readonly string[], at: number, random: Random) => readonly string[];

/** Changes of lines that keep the format, and the tiles intact. */
const lineChanges: Readonly<Record<string, LineChange>> = {
  'a removed line': (lines, at) => lines.toSpliced(at, 1),
  'a repeated line': (lines, at) => lines.toSpliced(at, 0, lines[at] ?? ''),
  'swapped lines': (lines, at, random) => {
    const other = below(random, lines.length);
    return lines.with(at, lines[other] ?? '').with(other, lines[at] ?? '');
  },
  'another event in its place': (lines, at, random) => {
    const other = JSON.parse(pick(random, lines)) as { index: number };
    const { index } = JSON.parse(lines[at] ?? '') as { index: number };
    return lines.with(at, JSON.stringify({ ...other, index }));
  },
  'a member that stands twice': (lines, at) =>
    lines.with(at, (lines[at] ?? '').replace('"data":{', '"data":{"name":"forged",')),
  'a further member': (lines, at) => lines.with(at, (lines[at] ?? '').replace('{', '{"note":"forged",')),
  'another value': (lines, at, random) => {
    const event = JSON.parse(lines[at] ?? '') as Record<string, unknown>;
    const changes: readonly object[] = [
      { data: { ...(event['data'] as object), amount: 7_000_001 } },
      { data: {} },
      { metadata: { actor: 'user-forged' } },
      { type: 'ForgedType' },
      { stream: 'project-forged' },
      { revision: Number(event['revision']) + 1 },
      { index: Number(event['index']) + 1 },
      { id: 'forged' },
      { recorded_at: '2026-02-01T00:00:00.000Z' },
    ];
    return lines.with(at, JSON.stringify({ ...event, ...pick(random, changes) }));
  },
};

const inLines =
  (change: LineChange): Tamper =>
  ({ files }, random) => {
    const path = pick(random, eventsPaths(files));
    const lines = linesOf(files, path);
    const changed = Buffer.from(joinLines(change(lines, below(random, lines.length), random)));
    if (changed.equals(bytesOf(files, path))) return null;
    return {
      files: withFiles(files, { [path]: changed }),
      given: {},
      complaint: expectFor(files, path, changed),
    };
  };

const forgedEvent = (event: ExportedEvent): ExportedEvent => ({
  ...event,
  data: { ...event.data, amount: 7_000_002 },
});

function forge(events: readonly ExportedEvent[], index: number): ExportedEvent[] {
  return events.map((event, at) => (at === index ? forgedEvent(event) : event));
}

/** Forges an event, and the tiles over it up to a level that the tamperer chooses. The key is not known. */
const forgeAlong: Tamper = ({ events, files }, random) => {
  const index = below(random, events.length);
  const other = exportFilesOf(forge(events, index));
  const along = [...other.keys()].filter(
    (path) => path !== 'checkpoint' && !bytesOf(files, path).equals(bytesOf(other, path)),
  );
  const tiles = along.filter((path) => /^tile\/\d/.test(path)).sort();
  const depth = 1 + below(random, tiles.length);
  const kept = [...along.filter((path) => !tiles.includes(path)), ...tiles.slice(0, depth)];
  const changes = Object.fromEntries(kept.map((path) => [path, bytesOf(other, path)]));
  const highest = tiles[depth - 1] ?? '';
  const complaint: Tampered['complaint'] = ({ places }) => {
    const contradiction = places.find(({ path, what }) => path === highest || what.includes(highest));
    return contradiction === undefined ? `no place names ${highest}` : null;
  };
  return { files: withFiles(files, changes), given: {}, complaint };
};

/** Forges an event and its entry. The tile is the log's. */
const forgeEntry: Tamper = ({ events, files }, random) => {
  const index = below(random, events.length);
  const other = exportFilesOf(forge(events, index));
  const n = Math.floor(index / 256);
  const [lines = '', entries = ''] = [
    eventsPaths(files)[n],
    [...files.keys()].filter((path) => path.startsWith('tile/entries'))[n],
  ];
  return {
    files: withFiles(files, { [lines]: bytesOf(other, lines), [entries]: bytesOf(other, entries) }),
    given: {},
    complaint: expectEvents(lines, [index]),
  };
};

/** Expects a place that is the checkpoint, or contradicts it. */
const expectCheckpoint: Tampered['complaint'] = ({ places }) =>
  places.some(({ path, what }) => path === 'checkpoint' || what.includes('checkpoint'))
    ? null
    : 'no place names the checkpoint';

const withCheckpoint = (files: ExportFiles, from: ExportFiles): ExportFiles =>
  withFiles(files, { checkpoint: bytesOf(from, 'checkpoint') });

const isSame = (one: ExportFiles, other: ExportFiles): boolean =>
  one.size === other.size && [...one].every(([path, bytes]) => other.get(path)?.equals(bytes) === true);

/** A checkpoint that the log did not sign, or that is not of these tiles. */
const forgeCheckpoint: Tamper = ({ events, files, kept }, random) => {
  const stranger = givenLogKey(auditOrigin, 2);
  const forged = forge(events, below(random, events.length));
  const note = bytesOf(files, 'checkpoint').toString();
  const [text = ''] = note.split('\n— ');
  const [, olderSignature = ''] = bytesOf(kept, 'checkpoint').toString().split('\n— ');
  const versions: readonly (() => ExportFiles)[] = [
    () => withCheckpoint(files, exportFilesOf(events, [stranger])),
    () => exportFilesOf(forged, [stranger]),
    () => withCheckpoint(exportFilesOf(forged), files),
    () => withCheckpoint(files, exportFilesOf(forged)),
    () => withFiles(files, { checkpoint: note.replace(/\n\d+\n/, `\n${events.length + 1}\n`) }),
    () => withFiles(files, { checkpoint: `${text}\n— ${olderSignature}` }),
  ];
  const tampered = pick(random, versions)();
  return isSame(tampered, files) ? null : { files: tampered, given: {}, complaint: expectCheckpoint };
};

type Rewrite = (events: readonly ExportedEvent[], index: number, random: Random) => readonly ExportedEvent[];

/** Other histories, which the holder of the key writes and signs. */
const rewrites: Readonly<Record<string, Rewrite>> = {
  'an edited event': forge,
  'a removed event': (events, index) => events.toSpliced(index, 1),
  'an inserted event': (events, index) =>
    events.toSpliced(index, 0, {
      ...forgedEvent(events[index] as ExportedEvent),
      id: 'new',
      stream: 'project-new',
      revision: 0,
    }),
  'swapped events': (events, index, random) => {
    const other = below(random, events.length);
    return events.with(index, events[other] as ExportedEvent).with(other, events[index] as ExportedEvent);
  },
  'a truncated log': (events, index) => events.slice(0, index),
};

/** Rewrites the history before the kept size. The auditor has the kept checkpoint, or the kept export too. */
const forked =
  (rewrite: Rewrite, withExport: boolean): Tamper =>
  ({ events, keptSize, kept }, random) => {
    const other = rewrite(events, below(random, keptSize), random);
    const first = other.slice(0, keptSize).findIndex((event, at) => event !== events[at]);
    const isCut = other.length < keptSize;
    if (first === -1 && !isCut) return null;
    const complaint: Tampered['complaint'] = ({ places }) => {
      const has = (from: number, to: number): boolean =>
        places.some((place) => place.path === 'checkpoint' && place.first === from && place.last === to);
      if (isCut && !has(other.length, keptSize - 1)) return 'no place says what was cut off';
      if (first === -1) return null;
      if (withExport) return has(first, first) ? null : `no place is the event ${first}`;
      return isCut || has(0, keptSize - 1) ? null : 'no place is the range of the kept checkpoint';
    };
    const alone = new Map([['checkpoint', bytesOf(kept, 'checkpoint')]]);
    return { files: exportFilesOf(other), given: { kept: withExport ? kept : alone }, complaint };
  };

/** Other values in two events of different tiles. */
const forgeTwo: Tamper = ({ files }, random) => {
  const paths = eventsPaths(files)
    .sort(() => random() - 0.5)
    .slice(0, 2);
  if (paths.length < 2) return null;
  const changes: Record<string, Buffer> = {};
  const gone: (readonly [string, number])[] = [];
  for (const path of paths) {
    const lines = linesOf(files, path);
    const at = below(random, lines.length);
    const { index, ...event } = JSON.parse(lines[at] ?? '') as { index: number };
    changes[path] = Buffer.from(
      joinLines(lines.with(at, JSON.stringify({ index, ...event, type: 'ForgedType' }))),
    );
    gone.push([path, index]);
  }
  const complaint: Tampered['complaint'] = ({ places }) =>
    places.length === 2 &&
    gone.every(([path, index]) =>
      places.some((place) => place.path === path && place.first === index && place.last === index),
    )
      ? null
      : 'the places are not the two events';
  return { files: withFiles(files, changes), given: {}, complaint };
};

const named = <T>(
  prefix: string,
  of: Readonly<Record<string, T>>,
  tamper: (change: T) => Tamper,
): [string, Tamper][] => Object.entries(of).map(([name, change]) => [`${prefix}: ${name}`, tamper(change)]);

/** All kinds of tampering by their names. */
export const tamperings: ReadonlyMap<string, Tamper> = new Map([
  ...named('a file', byteChanges, inBytes),
  ['a file: removed', removeFile],
  ...named('lines', lineChanges, inLines),
  ['lines: two events', forgeTwo],
  ['an event and its entry', forgeEntry],
  ['an event with its tiles', forgeAlong],
  ['a forged checkpoint', forgeCheckpoint],
  ...named('a fork, kept checkpoint', rewrites, (rewrite) => forked(rewrite, false)),
  ...named('a fork, kept export', rewrites, (rewrite) => forked(rewrite, true)),
]);
