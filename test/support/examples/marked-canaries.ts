import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Canaries, findCanaries } from './canaries.js';

/*
 * Canaries of many people. Each text contains the marker twice, around a random part, so that a search for a few
 * spellings of the marker finds each of them, also a part of one.
 */
const markers = ['kanarie', 'eiranak'] as const;
const drawnLength = 20;
const digits = 'abcdefghijklmnopqrstuvwxyz234567';

/** A text that stands for personal data, and the random part that only it has. */
export interface MarkedCanary {
  readonly text: string;
  readonly drawn: string;
}

export function drawCanary(random: () => number): MarkedCanary {
  const drawn = Array.from({ length: drawnLength }, () => digits[Math.floor(random() * digits.length)]).join(
    '',
  );
  return { text: `Kanarie${drawn}eiranaK`, drawn };
}

/** All cases of the markers; `findCanaries` adds base64 and hexadecimal digits. */
const needles: Canaries = Object.fromEntries(
  markers
    .flatMap((marker) => [marker, marker.toUpperCase(), marker.replace(/^k/, 'K').replace(/k$/, 'K')])
    .map((spelling) => [spelling, Buffer.from(spelling)]),
);

/**
 * Returns where canaries stand, as `<place>: <what>`.
 * @param canaries all of them; the random part of each is searched too, in lower case
 * @param addresses client addresses, which have no room for a marker
 */
export function findMarked(
  {
    canaries,
    addresses,
  }: { readonly canaries: ReadonlySet<string>; readonly addresses: ReadonlySet<string> },
  place: string,
  bytes: Buffer,
): readonly string[] {
  const found = findCanaries(needles, place, bytes).map(({ canary }) => `${place}: the marker ${canary}`);
  const text = bytes.toString('latin1').toLowerCase();
  for (const [run] of text.matchAll(/[a-z2-7]{20,}/g)) {
    for (let at = 0; at + drawnLength <= run.length; at += 1) {
      if (canaries.has(run.slice(at, at + drawnLength))) found.push(`${place}: a canary`);
    }
  }
  for (const [address] of text.matchAll(/\d{1,3}(?:\.\d{1,3}){3}/g)) {
    if (addresses.has(address)) found.push(`${place}: the address of a client`);
  }
  return found;
}

/** Searches a file. */
export function findMarkedIn(sought: Parameters<typeof findMarked>[0], file: string): readonly string[] {
  return findMarked(sought, file, readFileSync(file));
}

/** Returns the paths of all files below a directory. */
export function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
