import { framesOf } from '../http/replies/error-reply.js';
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
import { Overloaded } from '../kit/semaphore.js';
import { MailNotSent, MailRefused, MailUnknown } from '../mail/errors.js';
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
