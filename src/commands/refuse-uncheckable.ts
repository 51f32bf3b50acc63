import { KeyMissing } from '../keys/errors.js';
import { rejectUseCase } from './rejections.js';

/** Told of a password that could not be checked; the error names the key that is missing. */
export type OnUncheckable = (error: KeyMissing) => void;

/**
 * A password whose key is missing is neither right nor wrong: the operator puts the key back, or somebody sets the password
 * again (docs/decisions/0017).
 * @param advice what whoever asks can do
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
