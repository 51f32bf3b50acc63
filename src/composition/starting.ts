import { codeOf } from '../kit/errors.js';
import { type Config, ConfigProblem } from '../config/config.js';
import { isServed } from '../operating/socket/client.js';
import { controlSocketPath } from '../operating/socket/listen.js';
import {
  CommandRejected,
  DocumentTooLarge,
  EventTooLarge,
  PreconditionFailed,
  StoreDamaged,
  StoreUnavailable,
  UndecodableEvent,
  WrongExpectedRevision,
} from '../event-sourcing/ports/errors.js';
import { inUse } from '../stores/embedded/files/directory-lock.js';
import { framesOf } from '../http/replies/error-reply.js';
import { Overloaded } from '../kit/semaphore.js';
import { MailNotSent, MailRefused, MailUnknown } from '../mail/mailer.js';
import { OutgoingError } from '../outgoing/outgoing-http.js';
import { DoesNotOpen, KeyDestroyed, KeyMissing, KeyProblem } from '../keys/sealing/errors.js';

/** Errors whose messages this service writes. They contain no secret and no personal data. */
const ours = [
  ...[StoreUnavailable, StoreDamaged, UndecodableEvent, Overloaded, EventTooLarge, DocumentTooLarge],
  ...[CommandRejected, PreconditionFailed, WrongExpectedRevision],
  ...[KeyProblem, KeyMissing, KeyDestroyed, DoesNotOpen, OutgoingError],
  ...[MailNotSent, MailRefused, MailUnknown],
] as const;

/** Returns an error's text for the log. Other errors lose their message: a parser's may quote the secret it parses. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return `something was thrown that is no error: ${typeof error}`;
  if (ours.some((known) => error instanceof known)) return error.message;
  return [error.name, ...framesOf(error)].join(' ');
}

/**
 * Refuses a data directory whose service answers on its control socket. The lock alone does not show a service whose
 * lock.db was deleted: src/stores/embedded/README.md#one-owner. Processes on servers may share a directory.
 * @throws StoreUnavailable
 */
export async function requireSoleOwner({
  dataDirectory,
  eventStoreDbUrl,
  mongoDbUrl,
}: Pick<Config, 'dataDirectory' | 'eventStoreDbUrl' | 'mongoDbUrl'>): Promise<void> {
  if (eventStoreDbUrl !== undefined && mongoDbUrl !== undefined) return;
  // A socket that this user may not open is another user's, whose files the stores refuse.
  const served = await isServed(controlSocketPath(dataDirectory)).catch(() => false);
  if (served) throw new StoreUnavailable(inUse(dataDirectory));
}

/** Writes a sentence for the person who started the service. The log is for machines. */
export type Print = (sentence: string) => void;

/** Makes the function that writes to standard error. A terminal that is gone loses the sentences. */
export function openTerminal(): Print {
  // Without a listener the error of a closed pipe would end the process.
  process.stderr.on('error', () => undefined);
  return (sentence) => process.stderr.write(`${sentence}\n`);
}

/** The defect of an address by error code, and the remedy. */
const advice = new Map([
  ['EADDRINUSE', 'is in use by another program; stop that one, or choose another'],
  ['EACCES', 'may not be used by this user; choose another, or give the user the right to'],
  ['EADDRNOTAVAIL', 'is not an address of this machine; choose an address of this machine'],
  ['ENOTFOUND', 'is not known by name; give an address'],
  ['ENAMETOOLONG', 'has too long a path; choose a shorter DATA_DIR'],
]);

/**
 * Waits until a server listens. Explains a failure.
 * @param what the address, and the variables that name it
 * @throws ConfigProblem
 */
export async function listening<Listener>(starting: Promise<Listener>, what: string): Promise<Listener> {
  try {
    return await starting;
  } catch (error) {
    const sentence = advice.get(codeOf(error));
    if (sentence === undefined) throw error;
    throw new ConfigProblem(`${what} ${sentence}`, { cause: error });
  }
}
