import { CommandRejected, type RemovedSince } from '../../event-sourcing/ports/errors.js';
import { KeyDestroyed, KeyMissing } from '../../keys/sealing/errors.js';

export type UseCaseRejection =
  | RemovedSince['code']
  /** The address belongs to another user or to a registration under way. */
  | 'email_taken'
  /** The sign-in failed. The rejection does not say which of the credentials is wrong. */
  | 'credentials_refused'
  /** The command needs to send mail, and no mail server is configured. */
  | 'mail_not_configured'
  /** The command makes the service mail others, and the caller has not proved an address. */
  | 'email_not_verified'
  /** The passkey's response was refused; a sign-in by passkey is refused by `credentials_refused`. */
  | 'passkey_refused'
  /** Browsers accept no passkey of this service: see `readPasskeys`. */
  | 'passkeys_not_configured'
  /** The key that hashed or sealed the password is missing: see `refuseUncheckable`. */
  | 'password_not_checkable'
  /** The payment platform is not configured, so it could not report a payment. */
  | 'provider_not_configured'
  /** The service has no credentials with which it could ask the order's platform. */
  | 'payment_not_offered'
  /** The platform refused what the service asked for. */
  | 'payment_refused'
  /** The platform did not answer, or reported an error. */
  | 'platform_unavailable';

export function rejectUseCase(code: UseCaseRejection, message: string): never {
  throw new CommandRejected<UseCaseRejection>(code, message);
}

/** Too many attempts failed, or too many requests came: the client waits before the next (src/security/README.md#guessing). */
export class TooManyAttempts extends Error {
  override readonly name = 'TooManyAttempts';
  readonly retryAfterSeconds: number;
  constructor(retryAfterSeconds: number, message = 'too many tries have failed; wait and try again') {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Returns whether a command was rejected with one of the codes. `Code`: those of the aggregate that decided, or UseCaseRejection. */
export function isRejection<Code extends string = never>(error: unknown, ...codes: NoInfer<Code>[]): boolean {
  return error instanceof CommandRejected && codes.some((code) => code === error.code);
}

/**
 * Makes the handler of a failed command, for `catch`, which does something else where the command was rejected with one of the codes. All
 * other errors stay. `Code`: as in `isRejection`.
 */
export function whenRejected<Code extends string = never>(...codes: NoInfer<Code>[]) {
  return <Result>(instead: () => Result) =>
    (error: unknown): Result => {
      if (isRejection<Code>(error, ...codes)) return instead();
      throw error;
    };
}

/** Makes the handler of a failed sealing, for `catch`, which does something else where the key is destroyed. */
export function whenKeyDestroyed<Result>(instead: () => Result) {
  return (error: unknown): Result => {
    if (error instanceof KeyDestroyed) return instead();
    throw error;
  };
}

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
