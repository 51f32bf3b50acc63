import type { EndGivenAccess } from './end-given-access.js';
import { userCodec, type UserEvent, userCategory } from '../../domain/user/events.js';
import type { Position } from '../../../../event-sourcing/ports/domain-event.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';

type Distrusted = Extract<UserEvent, { type: 'CredentialsVoided' | 'UserBanned' }>;

/**
 * Ends the access that an account has given, after the first proof of its address by a stranger's mailbox, and after a
 * ban. The request ends it too, before its reply; this reaction does so after a crash, and where the view lagged.
 */
export function makeEndGivenAccesses({
  endGivenAccess,
  projectsShowUpTo,
}: {
  readonly endGivenAccess: EndGivenAccess;
  /** Says whether the view of projects has reached the position. */
  readonly projectsShowUpTo: (position: Position) => boolean;
}): Reaction<Distrusted> {
  return {
    name: 'end-given-access',
    category: userCategory,
    codec: userCodec,
    types: ['CredentialsVoided', 'UserBanned'],
    // Every step is idempotent, so no check of the outcome is needed.
    asks: (event) => Promise.resolve(projectsShowUpTo(event.position) ? 'yes' : 'not-yet'),
    conclude: (event, context) => endGivenAccess({ userId: streamIdOf(event) }, context),
  };
}
