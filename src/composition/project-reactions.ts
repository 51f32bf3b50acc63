import { projectsProjection } from '../../projections/projects/projection.js';
import type { ProjectionRunner } from '../event-sourcing/projection-runner.js';
import { type AnyReaction, showsUpTo } from '../event-sourcing/reaction.js';
import { makeAcceptNewInvitations, makeAcceptOpenInvitations } from '../reactions/accept-invitations.js';
import { makeForgetInvitationsReaction } from '../reactions/forget-invitations.js';
import { makeRemoveErasedMembers } from '../reactions/remove-erased-members.js';
import type { Services } from './services.js';

/** The reactions of projects and their members. @param runner the running views, one of which is read */
export function makeProjectReactions(
  { commands, readers }: Services,
  runner: Pick<ProjectionRunner, 'live'>,
): readonly AnyReaction[] {
  return [
    makeAcceptNewInvitations(commands),
    makeAcceptOpenInvitations({
      ...commands,
      ...readers,
      projectsShowUpTo: (position) => showsUpTo(runner, projectsProjection, position),
    }),
    makeForgetInvitationsReaction(commands),
    makeRemoveErasedMembers(commands),
  ];
}
