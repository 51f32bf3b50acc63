import { parseSmtpUrl } from '../../mail/smtp-url.js';
import { changesForDevelopment } from './development.js';
import { ConfigProblem, type Environment } from '../sources.js';

/** The value of `SMTP_URL` that writes mails to the log and sends none. */
const logUrl = 'log:';

/** Where mails go: nowhere, to the server that `SMTP_URL` names, or to the log. */
export type MailDestination = 'none' | 'server' | 'log';

/**
 * Reads `SMTP_URL`. The log gets mails only where one machine is the whole service: with a code from a production log,
 * its reader would sign in as another person.
 * @param environment all variables that are set, with the texts of secrets, also where files hold them
 * @throws ConfigProblem when `SMTP_URL` has another form, or is `log:` and the start is none for development; the
 *   message does not quote it, and names each setting to change
 */
export function readMailDestination(environment: Environment): MailDestination {
  const url = environment['SMTP_URL'];
  if (url === undefined) return 'none';
  if (url === logUrl) {
    checkMailLog(environment);
    return 'log';
  }
  if (parseSmtpUrl(url) !== null) return 'server';
  throw new ConfigProblem(
    'SMTP_URL must be like smtp://user:password@mail.example.org:587 (or smtps://), special characters of user and ' +
      'password percent-encoded, without a path or a query; or log:, which writes mails to the log of a development start',
  );
}

/** Checks that one machine is the whole service. `LOG_LEVEL` must pass level info, or each mail would be lost. */
function checkMailLog(environment: Environment): void {
  const { LOG_LEVEL } = environment;
  const changes = [
    ...changesForDevelopment(environment),
    ...(LOG_LEVEL === undefined || /^(info|debug)$/.test(LOG_LEVEL)
      ? []
      : ['set LOG_LEVEL to info or debug, since a mail is a line of level info']),
  ];
  if (changes.length === 0) return;
  throw new ConfigProblem(
    'SMTP_URL=log: writes mails with their codes to the log, so only a development start that no other machine reaches ' +
      `accepts it; for one, ${changes.join('; ')}; otherwise name a mail server`,
  );
}
