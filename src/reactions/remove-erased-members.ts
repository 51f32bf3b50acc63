import type { RemoveErasedMember } from '../commands/remove-erased-member.js';
import { projectCodec, type ProjectEvent } from '../domain/project/events.js';
import { projectCategory } from '../domain/project/stream.js';
import type { Reaction } from '../event-sourcing/reaction.js';
import { streamIdOf } from './stream-id.js';

type MembershipBegun = Extract<ProjectEvent, { type: 'ProjectCreated' | 'MemberAdded' }>;

/**
 * Ends memberships that began while their account was being erased. An erasure ends those that stand before it in the log;
 * one that comes after it was decided before, and finds the account erased here.
 */
export function makeRemoveErasedMembers({
  removeErasedMember,
}: {
  readonly removeErasedMember: RemoveErasedMember;
}): Reaction<MembershipBegun> {
  return {
    name: 'remove-erased-members',
    category: projectCategory,
    codec: projectCodec,
    types: ['ProjectCreated', 'MemberAdded'],
    // The use case reads for itself whether the account has been erased.
    asks: () => Promise.resolve('yes'),
    conclude: (event, context) => {
      const userId = event.type === 'ProjectCreated' ? event.data.owner_id : event.data.user_id;
      return removeErasedMember({ projectId: streamIdOf(event), userId }, context);
    },
  };
}
