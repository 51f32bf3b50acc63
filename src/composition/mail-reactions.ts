import { makeMailAddressChange } from '../commands/mail-address-change.js';
import { makeMailInvitation } from '../commands/mail-invitation.js';
import { makeMailLoginCode } from '../commands/mail-login-code.js';
import { makeMailSecurityNotice } from '../commands/mail-security-notice.js';
import { ConfigProblem } from '../config.js';
import type { AnyReaction } from '../event-sourcing/reaction.js';
import { makeMailer } from '../integrations/mail/mailer.js';
import { parseSmtpUrl } from '../integrations/mail/smtp-url.js';
import { makeAddressChangeCodes, makeLoginCodes } from '../keys/login-codes.js';
import { makeMailAddressChanges } from '../reactions/mail-address-changes.js';
import { makeMailInvitations } from '../reactions/mail-invitations.js';
import { makeMailLoginCodes } from '../reactions/mail-login-codes.js';
import { makeMailSecurityNotices } from '../reactions/mail-security-notices.js';
import type { Services } from './services.js';

/** The reactions that mail, which run only where mail is configured: elsewhere nothing asks for any. */
export function makeMailReactions(services: Services): readonly AnyReaction[] {
  const { config, handler, sealer, readers, clock, keyRings, log } = services;
  const url = config.secret('SMTP_URL');
  if (url === undefined) return [];
  const server = parseSmtpUrl(url);
  if (server === null) throw new ConfigProblem('SMTP_URL is not what it was at the start');
  const deps = {
    mailer: makeMailer({ server, from: config.mailFrom }),
    publicUrl: config.publicUrl,
    onRefused: (reaction: string, error: Error) => {
      log.logger.warn({ reaction, error: error.message }, 'a mail was refused for good');
    },
  };
  const loginCodes = makeLoginCodes(keyRings.code);
  const addressChangeCodes = makeAddressChangeCodes(keyRings.code);
  return [
    makeMailLoginCodes({ ...deps, mailLoginCode: makeMailLoginCode({ handler, sealer, loginCodes, clock }) }),
    makeMailAddressChanges({
      ...deps,
      mailAddressChange: makeMailAddressChange({ handler, sealer, addressChangeCodes, clock }),
    }),
    makeMailInvitations({
      ...deps,
      mailInvitation: makeMailInvitation({ handler, sealer, users: readers.users }),
    }),
    makeMailSecurityNotices({ ...deps, mailSecurityNotice: makeMailSecurityNotice({ handler, sealer }) }),
  ];
}
