import type { Readers } from '../../projections/readers.js';
import type { Background } from '../concurrency/background.js';
import type { Plan } from '../domain/order/plans.js';
import type { CommandHandler } from '../event-sourcing/deciding/command-handler.js';
import type { Clock } from '../event-sourcing/ports/clock.js';
import type { StateStore } from '../event-sourcing/ports/state-store.js';
import type { MakeStorageUrls } from '../integrations/object-storage/media-urls.js';
import type { ProbeBucket } from '../integrations/object-storage/probe.js';
import type { PaymentProviders } from '../integrations/payments/payment-providers.js';
import type { Digests } from '../keys/digests.js';
import type { MailedCodes } from '../keys/login-codes.js';
import type { RandomBytes } from '../keys/random-bytes.js';
import type { RefreshTokens } from '../keys/refresh-tokens.js';
import type { Sealer } from '../keys/sealer.js';
import type { ShareSessions } from '../keys/share-sessions.js';
import type { AccessTokens } from '../security/access-tokens.js';
import type { RateLimit } from '../security/gcra.js';
import type { LimitName } from '../security/limits.js';
import type { CheckPassword } from '../security/password-rules.js';
import type { Passwords } from '../security/passwords.js';
import type { SharePasswords } from '../security/share-passwords.js';

/**
 * The collaborators of the use cases. A name has one type in every factory. A factory selects its collaborators with
 * `Pick<Deps, …>`. A use case that serves other use cases is not listed here: it is a separate parameter.
 */
export interface Deps extends Readers {
  readonly clock: Clock;
  readonly handler: CommandHandler;
  readonly stateStore: StateStore;
  readonly randomBytes: RandomBytes;
  readonly sealer: Sealer;
  readonly digests: Digests;
  readonly passwords: Passwords;
  readonly checkPassword: CheckPassword;
  readonly sharePasswords: SharePasswords;
  readonly shareSessions: ShareSessions;
  readonly accessTokens: AccessTokens;
  readonly refreshTokens: RefreshTokens;
  readonly loginCodes: MailedCodes;
  readonly addressChangeCodes: MailedCodes;
  readonly addressRevertCodes: MailedCodes;
  readonly background: Background;
  readonly makeUrls: MakeStorageUrls;
  readonly probe: ProbeBucket;
  readonly paymentProviders: PaymentProviders;
  readonly plans: readonly Plan[];
  readonly invitationLimits: Readonly<Record<Extract<LimitName, `invitation_${string}`>, RateLimit>>;
  /** Address ranges that an endpoint may name over plain http. */
  readonly storageAllowedCidrs: readonly string[];
  readonly defaultCapacityBytes: number;
  /** Whether the service can send mail. */
  readonly mailConfigured: boolean;
  /** Reports a failure that no reply to a client shows. */
  readonly onFailure: (work: string, error: unknown) => void;
}
