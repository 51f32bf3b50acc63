import type { Aggregate } from '../../event-sourcing/decider.js';
import type { GrantSource } from '../fields.js';
import { type Entitlement, projectCodec, type ProjectEvent } from './events.js';
import { rejectProject } from './rejections.js';
import type { Role } from '../role.js';
import { projectCategory } from './stream.js';

export type ProjectState =
  | { readonly status: 'absent' }
  | {
      readonly status: 'existing';
      /** By user id. */
      readonly members: ReadonlyMap<string, Role>;
      /** What holds, by `grantKey`. */
      readonly grants: ReadonlySet<string>;
      readonly defaultStorageId: string | null;
    };

interface Grant {
  readonly entitlement: Entitlement;
  readonly source: GrantSource;
}

export type ProjectCommand =
  | { readonly type: 'Create'; readonly name: string; readonly ownerId: string }
  | { readonly type: 'AddMember'; readonly userId: string; readonly role: Role }
  | ({ readonly type: 'GrantEntitlement' } & Grant)
  | ({ readonly type: 'RevokeEntitlement' } & Grant)
  | { readonly type: 'ChangeDefaultStorage'; readonly storageId: string | null };

/** DESIGN 4.2. */
export const membersMax = 200;

const initialState: ProjectState = { status: 'absent' };

function evolve(state: ProjectState, event: ProjectEvent): ProjectState {
  if (event.type === 'ProjectCreated') {
    const members = new Map<string, Role>([[event.data.owner_id, 'owner']]);
    return { status: 'existing', members, grants: new Set(), defaultStorageId: null };
  }
  if (state.status === 'absent') return state;
  switch (event.type) {
    case 'MemberAdded':
      return { ...state, members: new Map(state.members).set(event.data.user_id, event.data.role) };
    case 'EntitlementGranted':
      return { ...state, grants: new Set(state.grants).add(grantKey(event.data)) };
    case 'EntitlementRevoked': {
      const grants = new Set(state.grants);
      grants.delete(grantKey(event.data));
      return { ...state, grants };
    }
    case 'DefaultStorageChanged':
      return { ...state, defaultStorageId: event.data.storage_id };
  }
}

function decide(command: ProjectCommand, state: ProjectState): readonly ProjectEvent[] {
  switch (command.type) {
    case 'Create':
      // A project's id is made from the command that creates it, so one that exists is what an earlier try has made.
      if (state.status === 'existing') return [];
      return [{ type: 'ProjectCreated', data: { name: command.name, owner_id: command.ownerId } }];
    case 'AddMember':
      return addMember(command, existing(state));
    case 'GrantEntitlement': {
      const { entitlement, source } = command;
      if (holds(existing(state), command)) return [];
      return [{ type: 'EntitlementGranted', data: { entitlement, source } }];
    }
    case 'RevokeEntitlement': {
      const { entitlement, source } = command;
      if (!holds(existing(state), command)) return [];
      return [{ type: 'EntitlementRevoked', data: { entitlement, source } }];
    }
    case 'ChangeDefaultStorage':
      if (existing(state).defaultStorageId === command.storageId) return [];
      return [{ type: 'DefaultStorageChanged', data: { storage_id: command.storageId } }];
  }
}

type Existing = Extract<ProjectState, { status: 'existing' }>;

function addMember(
  { userId, role }: Extract<ProjectCommand, { type: 'AddMember' }>,
  { members }: Existing,
): readonly ProjectEvent[] {
  const held = members.get(userId);
  if (held === role) return [];
  if (held !== undefined) rejectProject('already_member', `the user is a member of the project as ${held}`);
  if (members.size >= membersMax) {
    rejectProject('member_limit_reached', `a project has at most ${membersMax} members`);
  }
  return [{ type: 'MemberAdded', data: { user_id: userId, role } }];
}

function existing(state: ProjectState): Existing {
  return state.status === 'existing' ? state : rejectProject('project_not_found', 'there is no such project');
}

function holds({ grants }: Existing, grant: Grant): boolean {
  return grants.has(grantKey(grant));
}

function grantKey({ entitlement, source }: Grant): string {
  return `${entitlement}/${source}`;
}

export const projectAggregate: Aggregate<ProjectState, ProjectCommand, ProjectEvent> = {
  category: projectCategory,
  codec: projectCodec,
  decider: { initialState, decide, evolve },
};
