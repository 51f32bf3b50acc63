import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import { Overloaded } from '../../kit/overloaded.js';
import { KeyMissing } from '../../keys/sealing/errors.js';

/** A check throws it when it must not begin yet. The attempt then counts nowhere. */
export class TryPutOff extends Error {
  override readonly name = 'TryPutOff';
  readonly retryAfterSeconds: number;
  constructor(retryAfterSeconds: number) {
    super('the attempt has to wait');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const undecidedErrors = [Overloaded, StoreUnavailable, KeyMissing, TryPutOff] as const;

/** Returns whether the error means that a check decided nothing about the secret. */
export function isUndecided(error: unknown): boolean {
  return undecidedErrors.some((kind) => error instanceof kind);
}
