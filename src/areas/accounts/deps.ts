import type { UserReader } from '../../../projections/accounts/users/reader.js';
import type { SessionReader } from '../../../projections/accounts/sessions/reader.js';
import type { DeviceTokens } from '../../keys/codes/mac-tokens.js';
import type { AllMailedCodes } from '../../keys/codes/login-codes.js';
import type { PasskeyChallenges } from '../../keys/codes/passkey-challenges.js';
import type { RefreshTokens } from '../../keys/codes/refresh-tokens.js';
import type { Mailer } from '../../mail/mailer.js';
import type { CheckPassword } from '../../security/passwords/password-rules.js';
import type { Passwords } from '../../security/passwords/passwords.js';
import type { RateLimit } from '../../security/rates/rate-limit.js';
import type { AccessTokens } from '../../security/tokens/access-tokens.js';
import type { PasskeySettings } from '../../security/tokens/webauthn.js';
import type { SharedDeps } from '../shared/deps.js';

/** The collaborators of the use cases of this area, with those of the areas below it. */
export interface AccountDeps extends SharedDeps, AllMailedCodes {
  readonly users: UserReader;
  readonly sessions: SessionReader;
  readonly passwords: Passwords;
  readonly checkPassword: CheckPassword;
  readonly accessTokens: AccessTokens;
  readonly refreshTokens: RefreshTokens;
  readonly deviceTokens: DeviceTokens;
  readonly passkeyChallenges: PasskeyChallenges;
  /** Null: browsers accept no passkey of this service. */
  readonly passkeys: PasskeySettings | null;
  readonly verificationLimits: Readonly<Record<'verification_address', RateLimit>>;
  /** Returns whether the mail server can take no mail for the address: it lacks SMTPUTF8. */
  readonly cannotMail: Mailer['lacksFor'];
  readonly defaultCapacityBytes: number;
}
