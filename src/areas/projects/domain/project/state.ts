import type { Evolving } from '../../../../event-sourcing/deciding/command-handler.js';
import type { Recorded } from '../../../../event-sourcing/ports/domain-event.js';
import type { ProjectEvent } from './events.js';
import { type GivenAccesses, givenAfter } from '../access/givers.js';
import { type ProjectFields, applyEvent, newProject } from './fold.js';
import { CommandRejected } from '../../../../event-sourcing/ports/errors.js';

export type ProjectRejection =
  /** The project does not exist or was deleted. */
  | 'project_not_found'
  | 'member_not_found'
  | 'api_key_not_found'
  /** An earlier attempt of the command issued the key. The key itself cannot be shown again. */
  | 'api_key_issued_before'
  /** The user is a member, or the address is invited, already. */
  | 'already_member'
  | 'member_limit_reached'
  /** The user owns, or pays for, as many projects as a user may. */
  | 'project_limit_reached'
  | 'api_key_limit_reached'
  /** The project would have no owner. */
  | 'last_owner'
  /** The project is billed to this owner, and would have no payer. */
  | 'payer_needed'
  /** The offer or invitation does not exist, is not the user's, or has ended. */
  | 'offer_not_found'
  /** The role of the acting member is too low. */
  | 'insufficient_role'
  /** The project requires a second factor, which the session of the acting member has not passed. */
  | 'two_factor_required'
  /** The project has other members, so the erasure of an account cannot delete it. */
  | 'project_has_members';

export function rejectProject(code: ProjectRejection, message: string): never {
  throw new CommandRejected<ProjectRejection>(code, message);
}

export type ProjectState =
  | { readonly status: 'absent' }
  | ExistingProject
  | {
      readonly status: 'deleted';
      /** The invitations that were open, whose keys can be destroyed. */
      readonly invitationIds: readonly string[];
    };

export interface ExistingProject extends ProjectFields {
  readonly status: 'existing';
  /** The open invitations whose mail was accepted or refused. They are not mailed again. */
  readonly mailed: ReadonlySet<string>;
  /** How members were added, also removed ones, by user id; not the creator. The newest `additionsMax`. */
  readonly additions: ReadonlyMap<string, MemberAddition>;
  /** The revoked keys and the ended invitations, newest last. A late repetition does not make one of them again. */
  readonly endedIds: readonly string[];
  readonly given: GivenAccesses;
}

/** More than a project has at once, so that one command that ends all of them does not push out the others. */
const endedIdsMax = 600;
/** Twice the members of a project. */
const additionsMax = 400;

/** The command that added a member, and the invitation that ended with it. A repeated command recognises its work. */
export type MemberAddition = { readonly commandId: string; readonly invitationId: string | null };

export function evolve(state: ProjectState, event: Evolving<ProjectEvent>): ProjectState {
  if (event.type === 'ProjectCreated') {
    return {
      status: 'existing',
      ...newProject(event),
      ...{ mailed: new Set(), additions: new Map(), endedIds: [], given: new Map() },
    };
  }
  if (state.status !== 'existing') return state;
  if (event.type === 'ProjectDeleted')
    return { status: 'deleted', invitationIds: state.invitations.map(({ id }) => id) };
  return {
    ...state,
    ...applyEvent(state, event),
    mailed: mailedAfter(state, event),
    additions: additionsAfter(state, event),
    endedIds: endedIdsAfter(state, event),
    given: givenAfter(state.given, event),
  };
}

function additionsAfter(
  { additions }: ExistingProject,
  event: Recorded<ProjectEvent>,
): ExistingProject['additions'] {
  if (event.type !== 'MemberAdded') return additions;
  const { user_id, invitation_id: invitationId } = event.data;
  const others = [...additions].filter(([userId]) => userId !== user_id);
  const added = [user_id, { commandId: event.metadata.command_id, invitationId }] as const;
  return new Map([...others, added].slice(-additionsMax));
}

function endedIdsAfter({ endedIds }: ExistingProject, event: ProjectEvent): readonly string[] {
  const ended = endedBy(event);
  return ended === null ? endedIds : [...endedIds, ended].slice(-endedIdsMax);
}

function endedBy(event: ProjectEvent): string | null {
  if (event.type === 'ApiKeyRevoked') return event.data.key_id;
  return event.type === 'InvitationWithdrawn' || event.type === 'MemberAdded'
    ? event.data.invitation_id
    : null;
}

function mailedAfter({ mailed }: ExistingProject, event: ProjectEvent): ReadonlySet<string> {
  if (event.type === 'InvitationMailed') return new Set(mailed).add(event.data.invitation_id);
  if (event.type !== 'InvitationWithdrawn' && event.type !== 'MemberAdded') return mailed;
  return new Set([...mailed].filter((id) => id !== event.data.invitation_id));
}
