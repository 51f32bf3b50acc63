import { framesOf } from '../http/error-frames.js';
import {
  CommandRejected,
  EventTooLarge,
  Overloaded,
  PreconditionFailed,
  StoreDamaged,
  StoreUnavailable,
  UndecodableEvent,
  WrongExpectedRevision,
} from '../event-sourcing/errors.js';
import { MailNotSent, MailRefused } from '../integrations/mail/errors.js';
import { OutgoingError } from '../integrations/outgoing/outgoing-http.js';
import { DoesNotOpen, KeyDestroyed, KeyMissing, KeyProblem } from '../keys/errors.js';

/** Whose messages are sentences of ours: they name no secret and nobody. */
const ours = [
  ...[StoreUnavailable, StoreDamaged, UndecodableEvent, Overloaded, EventTooLarge],
  ...[CommandRejected, PreconditionFailed, WrongExpectedRevision],
  ...[KeyProblem, KeyMissing, KeyDestroyed, DoesNotOpen, MailNotSent, MailRefused, OutgoingError],
] as const;

/**
 * What the log tells of an error. Of one that is not ours it tells the kind and the places that it came through, and not the
 * message: that of a parser may quote the secret that it could not parse.
 */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return `something was thrown that is no error: ${typeof error}`;
  if (ours.some((known) => error instanceof known)) return error.message;
  return [error.name, ...framesOf(error)].join(' ');
}
