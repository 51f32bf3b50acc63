import type { RemoveErasedMember } from './remove-erased-member.js';
import { projectCodec, type ProjectEvent, projectCategory } from '../../domain/project/events.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';

type MembershipBegun = Extract<ProjectEvent, { type: 'ProjectCreated' | 'MemberAdded' }>;

/**
 * Ends memberships that began during the erasure of their account. The erasure ends those before it in the log; this
 * reaction ends those that were decided earlier but appended later.
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
    // The command checks whether the account is erased.
    asks: () => Promise.resolve('yes'),
    conclude: (event, context) => {
      const userId = event.type === 'ProjectCreated' ? event.data.owner_id : event.data.user_id;
      return removeErasedMember({ projectId: streamIdOf(event), userId }, context);
    },
  };
}
