import { z } from 'zod';
import { KeyProblem } from '../sealing/errors.js';
import { parseJson } from '../../kit/parse.js';

/** The rings of keys. Each ring has one purpose. */
export const ringNames = ['jwt', 'master', 'refresh', 'code', 'pepper', 'audit'] as const;
export type RingName = (typeof ringNames)[number];

/** The length of every key in bytes: AES-256 and HMAC-SHA-256 keys, Ed25519 seeds (RFC 8032). */
export const keyBytes = 32;

const listSchema = z.array(z.string()).min(1);

/** RFC 3339 times of a key: its addition to the ring, and the last time it became and ceased to be the active key. */
const keyTimesSchema = z.strictObject({
  added_at: z.iso.datetime().optional(),
  promoted_at: z.iso.datetime().optional(),
  demoted_at: z.iso.datetime().optional(),
});

/** The times of a key. They are absent for a key that was made with the file, or added by hand. */
export type KeyTimes = Readonly<z.output<typeof keyTimesSchema>>;

/** `keys.json`. An entry is `kid:base64url`; the first is the active key, as in the environment. */
const keyFileSchema = z.strictObject({
  format: z.literal(1),
  rings: z.strictObject(ringsOf(() => listSchema)),
  times: z.partialRecord(z.enum(ringNames), z.record(z.string(), keyTimesSchema)),
  index_key: z.string(),
});

export type KeyFile = z.output<typeof keyFileSchema>;

/** Parses a key file. @throws KeyProblem, which quotes nothing of the text */
export function parseKeyFile(text: string, path: string): KeyFile {
  const json = parseJson(text);
  if (json === undefined) throw new KeyProblem(`${path} is not JSON; restore it from a backup`);
  const result = keyFileSchema.safeParse(json);
  if (result.success) return result.data;
  const fields = result.error.issues.map((issue) => issue.path.join('.') || 'the whole').join(', ');
  throw new KeyProblem(`${path} is not a key file of this version (${fields}); restore it from a backup`);
}

export function formatKeyFile(file: KeyFile): string {
  return `${JSON.stringify(file, null, 2)}\n`;
}

/** Makes a value for each ring, in the order of `ringNames`. */
export function ringsOf<Value>(make: (name: RingName) => Value): Record<RingName, Value> {
  return Object.fromEntries(ringNames.map((name) => [name, make(name)])) as Record<RingName, Value>;
}
