import type { Sealed } from '../../../event-sourcing/ports/sealed.js';
import { shareNotFound } from '../domain/share/rejections.js';
import { KeyDestroyed } from '../../../keys/sealing/errors.js';
import type { Sealer } from '../../../keys/sealing/sealer.js';

/** The name of a share's sealed value. */
export interface ShareField {
  readonly projectId: string;
  readonly shareId: string;
  readonly field: 'token' | 'password_hash' | 'title' | 'note';
}

/** Seals a value for a share. @throws CommandRejected share_not_found once the share's key is destroyed */
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
