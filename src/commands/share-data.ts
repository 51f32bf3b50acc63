import type { Sealed } from '../event-sourcing/sealed.js';
import { shareNotFound } from '../domain/share/rejections.js';
import { KeyDestroyed } from '../keys/errors.js';
import type { Sealer } from '../keys/sealer.js';

/** A value of a share's, under the name of its field. */
export interface ShareField {
  readonly projectId: string;
  readonly shareId: string;
  readonly field: 'token' | 'password_hash';
}

/** Seals a value for a share. @throws CommandRejected share_not_found, once the share was revoked and its key destroyed */
export async function sealForShare(
  sealer: Pick<Sealer, 'seal'>,
  { projectId, shareId, field }: ShareField,
  text: string,
): Promise<Sealed> {
  try {
    return await sealer.seal({ kind: 'share', projectId, shareId }, field, text);
  } catch (error) {
    if (error instanceof KeyDestroyed) return shareNotFound();
    throw error;
  }
}
