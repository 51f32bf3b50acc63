import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Secret values by name; a test searches for them where they must not appear. */
export type Canaries = Readonly<Record<string, Buffer>>;

/** A searched place and the canary that was found in it. */
export interface Sighting {
  readonly canary: string;
  readonly place: string;
}

/** Returns the canaries in the bytes: raw, as base64 or base64url at any alignment, or as hexadecimal. */
export function findCanaries(canaries: Canaries, place: string, bytes: Buffer): readonly Sighting[] {
  return Object.entries(canaries)
    .filter(([, value]) => spellingsOf(value).some((spelling) => bytes.includes(spelling)))
    .map(([canary]) => ({ canary, place }));
}

/** Searches every file of a directory except those in `leftOut`. */
export async function findCanariesInFiles(
  canaries: Canaries,
  directory: string,
  leftOut: readonly string[] = [],
): Promise<readonly Sighting[]> {
  const names = (await readdir(directory, { withFileTypes: true }))
    .filter((entry) => entry.isFile() && !leftOut.includes(entry.name))
    .map(({ name }) => name);
  const sightings = names.map(async (name) =>
    findCanaries(canaries, name, await readFile(join(directory, name))),
  );
  return (await Promise.all(sightings)).flat();
}

function spellingsOf(value: Buffer): readonly Buffer[] {
  const hex = value.toString('hex');
  const base64 = [0, 1, 2].map((offset) => base64At(value, offset));
  const base64url = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [value, ...[hex, hex.toUpperCase(), ...base64, ...base64url].map((text) => Buffer.from(text))];
}

/** Returns the part of the base64 text that does not depend on the bytes before and after the value. */
function base64At(value: Buffer, offset: number): string {
  const whole = Buffer.concat([Buffer.alloc(offset), value]);
  const text = whole.toString('base64').replaceAll('=', '');
  // A character is certain when all of its six bits come from the value.
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor((whole.length * 8) / 6));
}
