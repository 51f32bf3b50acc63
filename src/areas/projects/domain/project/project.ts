import type { Aggregate } from '../../../../event-sourcing/deciding/command-handler.js';
import type { GrantSource } from '../../../../validation/fields.js';
import { type ApiKeyCommand, decideApiKeys } from './api-keys.js';
import { type Entitlement, projectCodec, type ProjectEvent, projectCategory } from './events.js';
import { decideInvitations, type InvitationCommand } from './invitations.js';
import { decideGivenAccess, type GivenAccessCommand } from '../access/given-access.js';
import { decideMembers, type MemberCommand } from './members.js';
import { decideOffers, type OfferCommand } from './offers.js';
import { type ExistingProject, type ProjectState, evolve, rejectProject } from './state.js';
import { roleIn } from './fold.js';

export type { ExistingProject, ProjectState } from './state.js';

interface Grant {
  readonly entitlement: Entitlement;
  readonly source: GrantSource;
}

type Settings = Pick<ExistingProject, 'name' | 'require_2fa' | 'accent_color' | 'open_shares'>;
/** Undefined fields stay unchanged. */
export type ProjectSettings = { readonly [Name in keyof Settings]?: Settings[Name] | undefined };

export type ProjectCommand =
  | { readonly type: 'Create'; readonly name: string; readonly ownerId: string }
  | ({ readonly type: 'Change' } & ProjectSettings)
  | { readonly type: 'Delete' }
  /** Deletes a project that has no other member. */
  | { readonly type: 'DeleteIfAlone'; readonly userId: string }
  | ({ readonly type: 'GrantEntitlement' } & Grant)
  | ({ readonly type: 'RevokeEntitlement' } & Grant)
  | { readonly type: 'ChangeDefaultStorage'; readonly storageId: string | null }
  /** Appends nothing if the default is no longer `replaces`, which the caller found unusable or null. */
  | {
      readonly type: 'ReplaceDefaultStorage';
      readonly replaces: string | null;
      readonly storageId: string;
    }
  | InvitationCommand
  | MemberCommand
  | OfferCommand
  | GivenAccessCommand
  | ApiKeyCommand;

/** The projects that a user may own or pay for. */
export const ownedProjectsMax = 100;

const initialState: ProjectState = { status: 'absent' };

function decide(command: ProjectCommand, state: ProjectState): readonly ProjectEvent[] {
  switch (command.type) {
    case 'Create':
      // The id derives from the command, so an earlier attempt made the existing project.
      if (state.status !== 'absent') return [];
      return [{ type: 'ProjectCreated', data: { name: command.name, owner_id: command.ownerId } }];
    case 'Change':
      return change(command, existing(state));
    case 'Delete':
      if (state.status === 'deleted') return [];
      existing(state);
      return [{ type: 'ProjectDeleted', data: {} }];
    case 'DeleteIfAlone':
      return deleteIfAlone(command.userId, state);
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
      if (existing(state).default_storage_id === command.storageId) return [];
      return [{ type: 'DefaultStorageChanged', data: { storage_id: command.storageId } }];
    case 'ReplaceDefaultStorage': {
      const { replaces, storageId } = command;
      if (state.status !== 'existing' || state.default_storage_id !== replaces) return [];
      return [{ type: 'DefaultStorageChanged', data: { storage_id: storageId } }];
    }
    // The next four follow from other events or commands, and have nothing to do in a deleted project.
    case 'MarkInvitationMailed':
    case 'AcceptInvitation':
      return state.status === 'deleted' ? [] : decideInvitations(command, existing(state));
    case 'RemoveErasedMember':
      return state.status === 'deleted' ? [] : decideMembers(command, existing(state));
    case 'EndGivenAccess':
      return state.status === 'existing' ? decideGivenAccess(command, state) : [];
    case 'InviteMember':
    case 'AnswerInvitation':
      return decideInvitations(command, existing(state));
    case 'AddMember':
    case 'ChangeMemberRole':
    case 'RemoveMember':
      return decideMembers(command, existing(state));
    case 'OfferBilling':
    case 'WithdrawBillingOffer':
    case 'AnswerOffer':
      return decideOffers(command, existing(state));
    case 'IssueApiKey':
    case 'RevokeApiKey':
      return decideApiKeys(command, existing(state));
  }
}

function change(
  { name, require_2fa, accent_color, open_shares }: ProjectSettings,
  project: ExistingProject,
): readonly ProjectEvent[] {
  const events: ProjectEvent[] = [];
  if (name !== undefined && name !== project.name) events.push({ type: 'ProjectRenamed', data: { name } });
  if (require_2fa !== undefined && require_2fa !== project.require_2fa) {
    events.push({ type: 'TwoFactorRequirementChanged', data: { require_2fa } });
  }
  if (accent_color !== undefined && accent_color !== project.accent_color) {
    events.push({ type: 'AccentColorChanged', data: { accent_color } });
  }
  if (open_shares !== undefined && open_shares !== project.open_shares) {
    events.push({ type: 'OpenSharesChanged', data: { open_shares } });
  }
  return events;
}

function deleteIfAlone(userId: string, state: ProjectState): readonly ProjectEvent[] {
  if (state.status === 'deleted') return [];
  const project = existing(state);
  if (roleIn(project, userId) === null) rejectProject('member_not_found', 'there is no such member');
  if (project.members.length > 1) rejectProject('project_has_members', 'the project has other members');
  return [{ type: 'ProjectDeleted', data: {} }];
}

function existing(state: ProjectState): ExistingProject {
  return state.status === 'existing' ? state : rejectProject('project_not_found', 'there is no such project');
}

/** Returns whether the project has the entitlement from this source. */
export function holds({ entitlements }: ExistingProject, grant: Grant): boolean {
  return sourcesOf({ entitlements }, grant.entitlement).includes(grant.source);
}

/** Returns the sources that grant the entitlement. */
export function sourcesOf(
  { entitlements }: Pick<ExistingProject, 'entitlements'>,
  entitlement: Entitlement,
): readonly string[] {
  return entitlements.filter((grant) => grant.entitlement === entitlement).map(({ source }) => source);
}

export const projectAggregate: Aggregate<ProjectState, ProjectCommand, ProjectEvent> = {
  category: projectCategory,
  codec: projectCodec,
  decider: { initialState, decide, evolve },
};
