import { hash } from 'node:crypto';

/** Bounds in bytes, and counts. An event has at most 256 KiB, an entry at most 65,535 bytes. */
export const verifierBounds = {
  note: 262_144,
  entries: 256 * 65_537,
  line: 1_048_576,
  places: 100,
  streams: 1_000_000,
  depth: 100,
};

/** The input does not allow a verdict: a key file, an option, a disk or a network. */
export class Unusable extends Error {}
/** A part of the export is not in its format. */
export class Malformed extends Error {}

export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

export const sha256 = (data: Buffer | string): Buffer => hash('sha256', data, 'buffer');
/** A text from the export, safe to print: it could contain control characters. */
export const shown = (text: string): string =>
  JSON.stringify(text).replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
