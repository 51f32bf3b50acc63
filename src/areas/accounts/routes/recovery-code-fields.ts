import { z } from 'zod';

/** The field of the replies that add a factor. */
export const recoveryCodesOfFirst = z
  .array(z.string())
  .nullable()
  .meta({ description: 'Ten codes, shown this one time. Null for a later factor, whose account has codes.' });

/** Copies the codes for a reply. */
export function shownCodes(codes: readonly string[] | null): string[] | null {
  return codes === null ? null : [...codes];
}
