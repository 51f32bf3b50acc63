import { Overloaded } from '../../../kit/overloaded.js';
import type { TryingClient } from '../../../security/guessing/guard.js';
import { guessing } from '../../../security/guessing/guessing.js';
import { TooManyAttempts } from '../../shared/rejections.js';

/** Makes a full queue of share passwords 429, not 503 (src/security/README.md#passwords). @throws TooManyAttempts */
export async function refuseWhenFull<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Overloaded)) throw error;
    throw new TooManyAttempts(
      guessing.sharePassword.pool.retryAfterSeconds,
      'too many passwords are being checked; wait and try again',
    );
  }
}

/** Returns in whose turn a new password of a share is hashed: that of its project. */
export function sharerOf(projectId: string): TryingClient {
  return { ip: '', known: { id: projectId, of: projectId } };
}
