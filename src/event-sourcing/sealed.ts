import { z } from 'zod';

/**
 * The stored form of an encrypted value: what events and documents keep in place of personal data and secrets.
 * `v1.<envelope>` is sealed under a data key of its own scope; `v1.<master key id>.<envelope>` directly under that
 * master key. The envelope is base64url: see `src/keys/envelope.ts`, the only maker and opener.
 */
export const sealedSchema = z
  .string()
  .regex(/^v1\.(?:[A-Za-z0-9-]{1,32}\.)?[A-Za-z0-9_-]{80,}$/)
  .brand<'Sealed'>();

/** Branded, so that no plain text can be put where only a sealed value may stand. */
export type Sealed = z.infer<typeof sealedSchema>;
