import type { ShareReader } from '../../../projections/shares/shares/reader.js';
import type { ShareAccessReader } from '../../../projections/shares/share-accesses/reader.js';
import type { ShareSessions } from '../../keys/codes/mac-tokens.js';
import type { Passwords } from '../../security/passwords/passwords.js';
import type { RateLimit } from '../../security/rates/rate-limit.js';
import type { LimitName } from '../../security/rates/limits.js';
import type { AssetDeps } from '../assets/deps.js';

/** The collaborators of the use cases of this area, with those of the areas below it. */
export interface ShareDeps extends AssetDeps {
  readonly shares: ShareReader;
  readonly shareAccesses: ShareAccessReader;
  /** In a pool apart from the accounts': a flood of visitors delays no sign-in. */
  readonly sharePasswords: Passwords;
  readonly shareSessions: ShareSessions;
  readonly shareMailLimits: Readonly<Record<Extract<LimitName, `share_mail_${string}`>, RateLimit>>;
}
