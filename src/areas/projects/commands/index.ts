import type { ProjectDeps } from '../deps.js';
import type { FindAccount } from '../../accounts/commands/finding.js';
import type { CountLimit } from '../../shared/count-limit.js';
import { makeApiKeys } from './api-keys.js';
import { makeCountInvitation, makeInvitations, makeVerifiedHolder } from './invitations.js';
import { makeLeaving } from './leaving.js';
import { makeMembers, makeBillingOffers, makeCountNotice } from './members.js';
import { makeProjects } from './projects.js';
import { makeRequireProved } from './require-proved.js';

export type ProjectCommands = ReturnType<typeof makeProjectCommands>;

export function makeProjectCommands(
  deps: ProjectDeps & {
    readonly findAccount: FindAccount;
    /** Of the projects that a user owns. */
    readonly limit: CountLimit;
  },
) {
  const verifiedHolder = makeVerifiedHolder(deps);
  const requireProved = makeRequireProved(deps);
  const countInvitation = makeCountInvitation({ ...deps, requireProved });
  const countNotice = makeCountNotice({ ...deps, requireProved, countInvitation });
  const invitations = makeInvitations({ ...deps, verifiedHolder });
  const given = { ...deps, verifiedHolder, requireProved, countInvitation, countNotice };
  return {
    ...makeProjects(deps),
    ...makeLeaving(deps),
    ...makeMembers({ ...given, ...invitations }),
    ...makeBillingOffers(given),
    ...invitations,
    ...makeApiKeys(given),
  };
}
