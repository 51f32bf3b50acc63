import { CommandRejected } from '../../event-sourcing/ports/errors.js';
import type { AssetRejection } from '../assets/domain/asset/rejections.js';
import type { CheckoutRejection } from '../payments/domain/checkout/rejections.js';
import type { EmailRejection } from '../accounts/domain/email/rejections.js';
import type { InvalidRequest } from '../../validation/invalid-request.js';
import type { LoginCodeRejection } from '../accounts/domain/login-code/rejections.js';
import type { NodeRejection } from '../nodes/domain/node/rejections.js';
import type { OrderRejection } from '../payments/domain/order/rejections.js';
import type { PaymentRejection } from '../payments/domain/transaction/rejections.js';
import type { ProjectRejection } from '../projects/domain/project/rejections.js';
import type { SessionRejection } from '../accounts/domain/session/rejections.js';
import type { ShareRejection } from '../shares/domain/share/rejections.js';
import type { StorageRejection } from '../storages/domain/storage/rejections.js';
import type { UserRejection } from '../accounts/domain/user/rejections.js';

export type UseCaseRejection =
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

/** Every code that a command can be rejected with. */
export type Rejection =
  | UseCaseRejection
  | InvalidRequest
  | AssetRejection
  | CheckoutRejection
  | EmailRejection
  | LoginCodeRejection
  | NodeRejection
  | OrderRejection
  | PaymentRejection
  | ProjectRejection
  | SessionRejection
  | ShareRejection
  | StorageRejection
  | UserRejection;

export function rejectUseCase(code: UseCaseRejection, message: string): never {
  throw new CommandRejected<UseCaseRejection>(code, message);
}

/** Too many attempts failed, or too many requests came: the client waits before the next (docs/design.md#guessing). */
export class TooManyAttempts extends Error {
  override readonly name = 'TooManyAttempts';
  readonly retryAfterSeconds: number;
  constructor(retryAfterSeconds: number, message = 'too many tries have failed; wait and try again') {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export function isRejection(error: unknown, code: Rejection): boolean {
  return error instanceof CommandRejected && error.code === code;
}
