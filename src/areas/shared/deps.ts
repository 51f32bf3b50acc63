import type { Readers } from '../../../projections/readers.js';
import type { Background } from '../../kit/background.js';
import type { Plan } from '../payments/domain/order/plans.js';
import type { CommandHandler } from '../../event-sourcing/deciding/command-handler.js';
import type { Clock } from '../../kit/clock.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import type { SetBucketCors } from '../storages/bucket/testing/bucket-cors.js';
import type { MakeStorageUrls } from '../storages/bucket/signing/media-urls.js';
import type { DeleteObject } from '../storages/bucket/objects/delete-object.js';
import type { HeadObject } from '../storages/bucket/objects/head-object.js';
import type { ListObjects } from '../storages/bucket/objects/list-objects.js';
import type { ReadObject } from '../storages/bucket/objects/read-object.js';
import type { Multipart } from '../storages/bucket/objects/multipart.js';
import type { ProbeBucket } from '../storages/bucket/testing/probe.js';
import type { PaymentMakers } from '../payments/platforms/settings/payment-makers.js';
import type { PaymentProviders } from '../payments/platforms/settings/payment-providers.js';
import type { Digests } from '../../keys/sealing/digests.js';
import type { MailedCodes } from '../../keys/codes/login-codes.js';
import type { PasskeyChallenges } from '../../keys/codes/passkey-challenges.js';
import type { PlaylistTokens } from '../../keys/codes/playlist-tokens.js';
import type { RandomBytes } from '../../keys/sealing/random-bytes.js';
import type { RefreshTokens } from '../../keys/codes/refresh-tokens.js';
import type { Sealer } from '../../keys/sealing/sealer.js';
import type { ShareSessions } from '../../keys/codes/share-sessions.js';
import type { AccessTokens } from '../../security/tokens/access-tokens.js';
import type { RateLimit } from '../../security/rates/gcra.js';
import type { LimitName } from '../../security/rates/limits.js';
import type { CheckPassword } from '../../security/passwords/password-rules.js';
import type { Passwords } from '../../security/passwords/passwords.js';
import type { SharePasswords } from '../../security/passwords/share-passwords.js';
import type { PasskeySettings } from '../../security/tokens/webauthn.js';

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
