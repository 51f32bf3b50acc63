import type { Readers } from '../../projections/readers.js';
import type { Background } from '../concurrency/background.js';
import type { Plan } from '../domain/order/plans.js';
import type { CommandHandler } from '../event-sourcing/deciding/command-handler.js';
import type { Clock } from '../event-sourcing/ports/clock.js';
import type { StateStore } from '../event-sourcing/ports/state-store.js';
import type { SetBucketCors } from '../integrations/object-storage/bucket-cors.js';
import type { MakeStorageUrls } from '../integrations/object-storage/media-urls.js';
import type { DeleteObject } from '../integrations/object-storage/delete-object.js';
import type { HeadObject } from '../integrations/object-storage/head-object.js';
import type { ListObjects } from '../integrations/object-storage/list-objects.js';
import type { ReadObject } from '../integrations/object-storage/read-object.js';
import type { Multipart } from '../integrations/object-storage/multipart.js';
import type { ProbeBucket } from '../integrations/object-storage/probe.js';
import type { PaymentMakers } from '../integrations/payments/payment-makers.js';
import type { PaymentProviders } from '../integrations/payments/payment-providers.js';
import type { Digests } from '../keys/digests.js';
import type { MailedCodes } from '../keys/login-codes.js';
import type { PasskeyChallenges } from '../keys/passkey-challenges.js';
import type { PlaylistTokens } from '../keys/playlist-tokens.js';
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
import type { PasskeySettings } from '../security/webauthn.js';

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
  readonly playlistTokens: PlaylistTokens;
  readonly accessTokens: AccessTokens;
  readonly refreshTokens: RefreshTokens;
  readonly loginCodes: MailedCodes;
  readonly addressChangeCodes: MailedCodes;
  readonly verificationCodes: MailedCodes;
  readonly passkeyChallenges: PasskeyChallenges;
  /** Null: browsers accept no passkey of this service. */
  readonly passkeys: PasskeySettings | null;
  readonly addressRevertCodes: MailedCodes;
  readonly background: Background;
  readonly makeUrls: MakeStorageUrls;
  readonly probe: ProbeBucket;
  readonly setBucketCors: SetBucketCors;
  readonly headObject: HeadObject;
  readonly deleteObject: DeleteObject;
  readonly listObjects: ListObjects;
  readonly readObject: ReadObject;
  readonly multipart: Multipart;
  readonly paymentProviders: PaymentProviders;
  readonly paymentMakers: PaymentMakers;
  readonly plans: readonly Plan[];
  readonly invitationLimits: Readonly<Record<Extract<LimitName, `invitation_${string}`>, RateLimit>>;
  readonly shareMailLimits: Readonly<Record<Extract<LimitName, `share_mail_${string}`>, RateLimit>>;
  readonly verificationLimits: Readonly<Record<'verification_address', RateLimit>>;
  /** Address ranges that an endpoint may name over plain http. */
  readonly storageAllowedCidrs: readonly string[];
  /** The origins of pages that upload files to buckets and fetch media from them. */
  readonly browserOrigins: readonly string[];
  /** `PUBLIC_URL`: the base of URLs of this service. */
  readonly publicUrl: string;
  readonly defaultCapacityBytes: number;
  /** Whether the service can send mail. */
  readonly mailConfigured: boolean;
  /** Counts a check of a node, for metrics. */
  readonly onChecked?: ((ok: boolean) => void) | undefined;
  /** Reports a failure that no reply to a client shows. */
  readonly onFailure: (work: string, error: unknown) => void;
}
