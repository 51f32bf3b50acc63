import type { Evolving } from '../../../../event-sourcing/deciding/decider.js';
import type { Recorded } from '../../../../event-sourcing/ports/domain-event.js';
import type { ProjectEvent } from './events.js';
import { type GivenAccesses, givenAfter } from '../access/givers.js';
import { applyEvent, newProject, type ProjectFields } from './fold.js';

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
export interface MemberAddition {
  readonly commandId: string;
  readonly invitationId: string | null;
}

export function evolve(state: ProjectState, event: Evolving<ProjectEvent>): ProjectState {
  if (event.type === 'ProjectCreated') {
    return {
      status: 'existing',
      ...newProject(event),
      ...{ mailed: new Set(), additions: new Map(), endedIds: [], given: new Map() },
    };
  }
  if (state.status !== 'existing') return state;
  if (event.type === 'ProjectDeleted') {
    return { status: 'deleted', invitationIds: state.invitations.map(({ id }) => id) };
  }
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
