import type { AnyReaction } from '../../event-sourcing/effects/reaction.js';
import {
  makeAddressChangeCodes,
  makeLoginCodes,
  makeVerificationCodes,
} from '../../keys/codes/login-codes.js';
import { makeAddressRevertCodes, makeStrongLoginCodes } from '../../keys/codes/strong-codes.js';
import { makeMailAddressChanges } from '../../areas/accounts/commands/address/mail-address-change-reaction.js';
import { makeMailEmailVerifications } from '../../areas/accounts/commands/address/mail-email-verification-reaction.js';
import { makeMailInvitations } from '../../areas/projects/commands/invitations/mail-invitation-reaction.js';
import { makeMailMemberNotices } from '../../areas/projects/commands/members/mail-member-notice-reaction.js';
import { makeMailLoginCodes } from '../../areas/accounts/commands/signing-in/mail-login-code-reaction.js';
import { makeMailSecurityNotices } from '../../areas/accounts/commands/account/mail-security-notice-reaction.js';
import { makeMailShareGuessing } from '../../areas/shares/commands/mails/mail-share-guessing-reaction.js';
import { makeMailShareLinks } from '../../areas/shares/commands/mails/mail-share-reaction.js';
import {
  makeMailShareOpening,
  makeRequestOpeningNotices,
} from '../../areas/shares/commands/mails/mail-share-opening-reaction.js';
import { makeWarnUnprovedAccounts } from '../../areas/accounts/commands/registering/purge-unproved-reaction.js';
import type { Services } from '../services.js';

/** Makes the reactions that send mail. It makes none without `SMTP_URL`, because then no command requests mail. */
export function makeMailReactions(services: Services): readonly AnyReaction[] {
  const { config, readers, keyRings, mails } = services;
  if (mails === null) return [];
  const deps = {
    ...services,
    ...readers,
    mails,
    publicUrl: config.publicUrl,
    loginCodes: makeLoginCodes(keyRings.code),
    strongLoginCodes: makeStrongLoginCodes(keyRings.code),
    addressChangeCodes: makeAddressChangeCodes(keyRings.code),
    verificationCodes: makeVerificationCodes(keyRings.code),
    addressRevertCodes: makeAddressRevertCodes(keyRings.code),
  };
  return [
    makeMailEmailVerifications(deps),
    makeMailLoginCodes(deps),
    makeMailAddressChanges(deps),
    makeMailInvitations(deps),
    makeMailMemberNotices(deps),
    makeMailSecurityNotices(deps),
    makeMailShareGuessing(deps),
    makeRequestOpeningNotices(deps),
    makeMailShareOpening(deps),
    makeMailShareLinks(deps),
    ...(config.unprovedAccountDays === 0
      ? []
      : [makeWarnUnprovedAccounts({ ...deps, ...services.commands, ...config })]),
  ];
}
