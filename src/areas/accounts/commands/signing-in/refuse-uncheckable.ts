import { KeyMissing } from '../../../../keys/sealing/errors.js';
import { rejectUseCase } from '../../../shared/rejections.js';

/** Reports a password that could not be checked; the error names the missing key. */
export type OnUncheckable = (error: KeyMissing) => void;

/**
 * Rejects a password whose key is missing: it is neither right nor wrong. The operator restores the key, or the owner
 * sets a new password (docs/decisions/keys.md#0017-peppers-are-counted).
 * @param advice says what the client can do
 * @throws CommandRejected password_not_checkable
 */
export async function refuseUncheckable<Result>(
  work: () => Promise<Result>,
  { advice, onUncheckable }: { readonly advice: string; readonly onUncheckable: OnUncheckable },
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof KeyMissing)) throw error;
    onUncheckable(error);
    return rejectUseCase('password_not_checkable', advice);
  }
}
