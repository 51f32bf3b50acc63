/** The hashes of a full tile: C2SP tlog-tiles, "Merkle Tree". A tile covers eight levels of the tree. */
export const tileWidth = 256;
export const tileLevels = 8;

/** A resource of C2SP tlog-tiles, or our event lines of the same range. */
export interface TilePath {
  readonly kind: 'tile' | 'entries' | 'events';
  /** The level of the tile; 0 for entries and events. */
  readonly level: number;
  readonly index: number;
  /** The hashes, entries or lines, 1 to 256. */
  readonly width: number;
}

const pattern =
  /^(?:tile\/(?<level>\d|[1-5]\d|6[0-3])|(?<bundle>tile\/entries|events))\/(?<index>(?:x\d{3}\/)*\d{3})(?:\.p\/(?<width>[1-9]\d{0,2}))?$/;

/** Returns the path of a resource below the log's root, for example `tile/0/x001/x234/067.p/17`. */
export function tilePath({ kind, level, index, width }: TilePath): string {
  const folder = kind === 'tile' ? `tile/${level}` : kind === 'entries' ? 'tile/entries' : 'events';
  return `${folder}/${tileNumber(index)}${width === tileWidth ? '' : `.p/${width}`}`;
}

/** Parses a path. Returns null unless `tilePath` returns the same text, so that one resource has one address. */
export function parseTilePath(path: string): TilePath | null {
  const { level, bundle, index, width } = pattern.exec(path)?.groups ?? {};
  if (index === undefined) return null;
  const parsed: TilePath = {
    kind: bundle === undefined ? 'tile' : bundle === 'events' ? 'events' : 'entries',
    level: Number(level ?? 0),
    index: Number(index.replaceAll(/[x/]/g, '')),
    width: width === undefined ? tileWidth : Number(width),
  };
  if (!Number.isSafeInteger(parsed.index) || parsed.width > tileWidth) return null;
  return tilePath(parsed) === path ? parsed : null;
}

/** Writes a number in groups of three digits, all but the last with a prefix `x`: C2SP tlog-tiles, "Merkle Tree". */
function tileNumber(index: number): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? [];
  return groups.map((group, place) => (place < groups.length - 1 ? `x${group}` : group)).join('/');
}
