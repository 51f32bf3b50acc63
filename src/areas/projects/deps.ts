import type { ProjectReader } from '../../../projections/projects/projects/reader.js';
import type { MemberReader } from '../../../projections/projects/members/reader.js';
import type { InvitationReader } from '../../../projections/projects/invitations/reader.js';
import type { ApiKeyReader } from '../../../projections/projects/api-keys/reader.js';
import type { RateLimit } from '../../security/rates/rate-limit.js';
import type { LimitName } from '../../security/rates/limits.js';
import type { AccountDeps } from '../accounts/deps.js';

/** The collaborators of the use cases of this area, with those of the areas below it. */
export interface ProjectDeps extends AccountDeps {
  readonly projects: ProjectReader;
  readonly members: MemberReader;
  readonly invitations: InvitationReader;
  readonly apiKeys: ApiKeyReader;
  readonly invitationLimits: Readonly<Record<Extract<LimitName, `invitation_${string}`>, RateLimit>>;
}
