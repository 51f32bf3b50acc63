import { MailRefused } from './errors.js';
import { isPlainAddress } from './mailbox.js';
import type { Mailer } from './mailer.js';

export interface LoggedMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/**
 * Makes a mailer that hands each mail, with code and address, to a log. The configuration accepts it for a development
 * start only.
 */
export function makeLogMailer(write: (mail: LoggedMail) => void): Mailer {
  return {
    send: async ({ to: { address }, subject, text }, _, handOver) => {
      // The mailer that sends refuses such an address too.
      if (!isPlainAddress(address)) throw new MailRefused('the address is none that mail is sent to');
      await handOver();
      write({ to: address, subject, text });
    },
    lacksFor: () => Promise.resolve(false),
  };
}
