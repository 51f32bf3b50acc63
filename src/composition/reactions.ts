import { randomUUID } from 'node:crypto';
import { makeMailAddressChange } from '../commands/mail-address-change.js';
import { makeMailInvitation } from '../commands/mail-invitation.js';
import { makeMailLoginCode } from '../commands/mail-login-code.js';
import { ConfigProblem } from '../config.js';
import { StoreDamaged } from '../event-sourcing/errors.js';
import type { AnyReaction } from '../event-sourcing/reaction.js';
import { type ReactionRunner, startReactions } from '../event-sourcing/reaction-runner.js';
import { makeMailer } from '../integrations/mail/mailer.js';
import { parseSmtpUrl } from '../integrations/mail/smtp-url.js';
import { makeAddressChangeCodes, makeLoginCodes } from '../keys/login-codes.js';
import { makeMailAddressChanges } from '../reactions/mail-address-changes.js';
import { makeMailInvitations } from '../reactions/mail-invitations.js';
import { makeMailLoginCodes } from '../reactions/mail-login-codes.js';
import type { Services } from './services.js';

/** Every reaction. Those that mail run only where mail is configured: elsewhere nothing asks for any. */
export function makeReactions(services: Services): readonly AnyReaction[] {
  return [...makeMailReactions(services)];
}

/**
 * Starts every reaction. The views must have been started: some reactions read them.
 * @param fail told of a store that is damaged or belongs to something else: the process should end
 */
export function bringUpReactions(services: Services, fail: (error: unknown) => void): ReactionRunner {
  const { logger } = services.log;
  const { stateStore } = services.stores;
  return startReactions({ ...services, stateStore, holder: randomUUID() }, makeReactions(services), {
    onRetry: (reaction, error, failures) => {
      logger.warn({ reaction, error: error.message, failures }, 'a reaction failed; trying again');
    },
    onStopped: (reaction, error) => {
      const reason = error instanceof Error ? error.message : String(error);
      logger.error({ reaction, error: reason }, 'a reaction stopped');
      // An event that this version cannot read stops its reaction alone.
      if (error instanceof StoreDamaged) fail(error);
    },
  });
}

function makeMailReactions(services: Services): readonly AnyReaction[] {
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
  ];
}
