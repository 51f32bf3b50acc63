import { z } from 'zod';

/**
 * The stored form of an encrypted value. Events and documents hold it in place of personal data and secrets.
 * `v1.<envelope>` is sealed under the data key of its scope, `v1.<master key id>.<envelope>` directly under that master
 * key. The envelope is base64url. Only `src/keys/sealing/envelope.ts` makes and opens it.
 */
export const sealedSchema = z
  .string()
  .regex(/^v1\.(?:[A-Za-z0-9-]{1,32}\.)?[A-Za-z0-9_-]{80,}$/)
  .brand<'Sealed'>();

/** A sealed value. The brand makes the compiler refuse plain text. */
export type Sealed = z.infer<typeof sealedSchema>;
