import { z } from 'zod';
import { KeyProblem } from './errors.js';

/** The rings of keys, each for one purpose. */
export const ringNames = ['jwt', 'master', 'refresh', 'code', 'pepper', 'audit'] as const;
export type RingName = (typeof ringNames)[number];

/** Every key of every ring has this length: AES-256 and HMAC-SHA-256 keys, Ed25519 seeds (RFC 8032). */
export const keyBytes = 32;

const listSchema = z.array(z.string()).min(1);

/** RFC 3339 times of a key: since when it is in the ring, and when it last became and ceased to be the active one. */
const keyTimesSchema = z.strictObject({
  added_at: z.iso.datetime().optional(),
  promoted_at: z.iso.datetime().optional(),
  demoted_at: z.iso.datetime().optional(),
});

/** Absent where the file was made with the key, or by hand. */
export type KeyTimes = Readonly<z.output<typeof keyTimesSchema>>;

/**
 * The storage format of `keys.json`. Entries are `kid:base64url`, the active one first, as in the environment;
 * `times` are by ring and key id.
 */
const keyFileSchema = z.strictObject({
  format: z.literal(1),
  rings: z.strictObject({
    jwt: listSchema,
    master: listSchema,
    refresh: listSchema,
    code: listSchema,
    pepper: listSchema,
    audit: listSchema,
  }),
  times: z.partialRecord(z.enum(ringNames), z.record(z.string(), keyTimesSchema)).default({}),
  index_key: z.string(),
});

export type KeyFile = z.output<typeof keyFileSchema>;

/** @throws KeyProblem which quotes nothing of the text */
export function parseKeyFile(text: string, path: string): KeyFile {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    throw new KeyProblem(`${path} is not JSON; restore it from a backup`);
  }
  const result = keyFileSchema.safeParse(json);
  if (result.success) return result.data;
  const fields = result.error.issues.map((issue) => issue.path.join('.') || 'the whole').join(', ');
  throw new KeyProblem(`${path} is not a key file of this version (${fields}); restore it from a backup`);
}

export function formatKeyFile(file: KeyFile): string {
  return `${JSON.stringify(file, null, 2)}\n`;
}
