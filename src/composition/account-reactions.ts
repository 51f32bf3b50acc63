import type { AnyReaction } from '../event-sourcing/reaction.js';
import { makeFinishEmailChanges, makeReleaseFormerAddresses } from '../reactions/finish-email-change.js';
import type { Services } from './services.js';

/** What accounts leave to reactions: the ends of what a process may have been stopped in. */
export function makeAccountReactions({ commands }: Pick<Services, 'commands'>): readonly AnyReaction[] {
  return [makeFinishEmailChanges(commands), makeReleaseFormerAddresses(commands)];
}
