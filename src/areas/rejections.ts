import type { InvalidRequest } from '../validation/field-problems.js';
import type { AssetRejection } from './assets/domain/asset/rejections.js';
import type { CheckoutRejection } from './payments/domain/checkout/checkout.js';
import type { EmailRejection } from './accounts/domain/email/email.js';
import type { LoginCodeRejection } from './accounts/domain/login-code/login-code.js';
import type { NodeRejection } from './nodes/domain/node/node.js';
import type { OrderRejection } from './payments/domain/order/rejections.js';
import type { PaymentRejection } from './payments/domain/transaction/transaction.js';
import type { ProjectRejection } from './projects/domain/project/rejections.js';
import type { SessionRejection } from './accounts/domain/session/session.js';
import type { ShareRejection } from './shares/domain/share/rejections.js';
import type { StorageRejection } from './storages/domain/storage/rejections.js';
import type { UserRejection } from './accounts/domain/user/rejections.js';
import type { UseCaseRejection } from './shared/rejections.js';

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
