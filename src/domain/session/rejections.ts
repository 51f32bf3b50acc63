import { CommandRejected } from '../../event-sourcing/errors.js';

export type SessionRejection = 'session_not_found';

export function rejectSession(code: SessionRejection, message: string): never {
  throw new CommandRejected<SessionRejection>(code, message);
}
