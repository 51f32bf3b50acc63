import type { Sealed } from '../../../../event-sourcing/ports/sealed.js';
import { rejectUser } from '../../domain/user/rejections.js';
import { KeyDestroyed } from '../../../../keys/sealing/errors.js';
import { erased, type Sealer } from '../../../../keys/sealing/sealer.js';

/** The name of a person's sealed value. */
export interface PersonField {
  readonly userId: string;
  readonly field: string;
}

/** Seals a value for a person. @throws CommandRejected user_not_found once the person is erased */
export async function sealForPerson(
  sealer: Pick<Sealer, 'seal'>,
  { userId, field }: PersonField,
  text: string,
): Promise<Sealed> {
  try {
    return await sealer.seal({ kind: 'person', userId }, field, text);
  } catch (error) {
    if (error instanceof KeyDestroyed) return rejectGone();
    throw error;
  }
}

/** Opens a value that was sealed for a person. @throws CommandRejected user_not_found once the person is erased */
export async function openForPerson(
  sealer: Pick<Sealer, 'open'>,
  { userId, field }: PersonField,
  sealed: Sealed,
): Promise<string> {
  const text = await sealer.open({ kind: 'person', userId }, field, sealed);
  return text === erased ? rejectGone() : text;
}

function rejectGone(): never {
  return rejectUser('user_not_found', 'there is no such user');
}
