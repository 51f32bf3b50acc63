import type { Asked } from '../../event-sourcing/effects/reaction.js';
import type { Position } from '../../event-sourcing/ports/domain-event.js';

/** Says whether the views that a reaction reads contain the log up to the position. */
export type Shows = (position: Position) => boolean;

/**
 * Makes the question of a reaction that waits until its views contain the event. Every step of it is idempotent, so it needs no check of
 * the outcome.
 */
export function onceShown(shows: Shows) {
  return (_id: string, { position }: { readonly position: Position }): Promise<Asked> =>
    Promise.resolve(shows(position) ? 'yes' : 'not-yet');
}
