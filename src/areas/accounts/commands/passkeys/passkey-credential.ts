import { z } from 'zod';
import type { Sealed } from '../../../../event-sourcing/ports/sealed.js';
import type { Sealer } from '../../../../keys/sealing/sealer.js';
import type { Credential } from '../../../../security/tokens/webauthn.js';
import { openForPerson, sealForPerson } from '../account/person-data.js';

/** The sealed part of `PasskeyRegistered`: base64url. */
const storedCredential = z.strictObject({ id: z.string(), public_key: z.string() });

const field = 'passkey';

/** Seals a credential for its person. @throws CommandRejected user_not_found once the person is erased */
export function sealCredential(
  sealer: Pick<Sealer, 'seal'>,
  userId: string,
  { id, publicKey }: Credential,
): Promise<Sealed> {
  const stored = { id, public_key: Buffer.from(publicKey).toString('base64url') };
  return sealForPerson(sealer, { userId, field }, JSON.stringify(stored));
}

/** Opens a credential. @throws CommandRejected user_not_found once the person is erased */
export async function openCredential(
  sealer: Pick<Sealer, 'open'>,
  userId: string,
  sealed: Sealed,
): Promise<Credential> {
  const text = await openForPerson(sealer, { userId, field }, sealed);
  const { id, public_key } = storedCredential.parse(JSON.parse(text));
  return { id, publicKey: Uint8Array.from(Buffer.from(public_key, 'base64url')) };
}
