import type { AnyReaction } from '../../event-sourcing/effects/reaction.js';
import {
  makeAddressChangeCodes,
  makeLoginCodes,
  makeVerificationCodes,
} from '../../keys/codes/login-codes.js';
import { makeAddressRevertCodes, makeStrongLoginCodes } from '../../keys/codes/strong-codes.js';
import { mailAddressChanges } from '../../areas/accounts/commands/email/email-change.js';
import { mailEmailVerifications } from '../../areas/accounts/commands/email/email-verification.js';
import { mailInvitations } from '../../areas/projects/commands/invitations.js';
import { mailMemberNotices } from '../../areas/projects/commands/member-notices.js';
import { mailLoginCodes } from '../../areas/accounts/commands/signing-in/login-codes.js';
import { mailSecurityNotices } from '../../areas/accounts/commands/security-notices.js';
import { makeMailShareGuessing } from '../../areas/shares/commands/mails/mail-share-guessing-reaction.js';
import { makeMailShareLinks } from '../../areas/shares/commands/mails/mail-share-reaction.js';
import {
  makeMailShareOpening,
  makeRequestOpeningNotices,
} from '../../areas/shares/commands/mails/mail-share-opening-reaction.js';
import { warnUnprovedAccounts } from '../../areas/accounts/commands/email/unproved.js';
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
    mailEmailVerifications(deps),
    mailLoginCodes(deps),
    mailAddressChanges(deps),
    mailInvitations(deps),
    mailMemberNotices(deps),
    mailSecurityNotices(deps),
    makeMailShareGuessing(deps),
    makeRequestOpeningNotices(deps),
    makeMailShareOpening(deps),
    makeMailShareLinks(deps),
    ...(config.unprovedAccountDays === 0
      ? []
      : [warnUnprovedAccounts({ ...deps, ...services.commands, ...config })]),
  ];
}
