import { Overloaded } from '../event-sourcing/errors.js';
import { TooManyAttempts } from './rejections.js';

/** A full queue of share passwords is 429, not 503 (DESIGN 4.4): too many are trying. @throws TooManyAttempts */
export async function refuseWhenFull<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Overloaded)) throw error;
    throw new TooManyAttempts(2, 'too many passwords are being checked; wait and try again');
  }
}
