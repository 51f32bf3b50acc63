import { decideBy, defineAggregate, narrowed } from '../../../../event-sourcing/deciding/command-handler.js';
import type { GrantSource } from '../../../../validation/fields.js';
import { type ApiKeyCommand, apiKeyDecisions } from './api-keys.js';
import { type Entitlement, type ProjectEvent, projectEvents } from './events.js';
import { invitationDecisions, type InvitationCommand } from './invitations.js';
import { decideGivenAccess, type GivenAccessCommand } from '../given-access.js';
import { memberDecisions, type MemberCommand, projectDeleted } from './members.js';
import { offerDecisions, type OfferCommand } from './offers.js';
import { type ExistingProject, evolve, type ProjectState, roleIn } from './fold.js';
import { memberNotFound, projectNotFound, rejectProject } from './rejections.js';

export type { ExistingProject, ProjectState } from './fold.js';

type Grant = { readonly entitlement: Entitlement; readonly source: GrantSource };

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
  | { readonly type: 'ReplaceDefaultStorage'; readonly replaces: string | null; readonly storageId: string }
  | InvitationCommand
  | MemberCommand
  | OfferCommand
  | GivenAccessCommand
  | ApiKeyCommand;

/** The projects that a user may own or pay for. */
export const ownedProjectsMax = 100;

const initialState: ProjectState = { status: 'absent' };

type ExistingCommand = Exclude<
  ProjectCommand,
  { type: 'Create' | 'ReplaceDefaultStorage' } | GivenAccessCommand
>;

const decideExisting = narrowed<ExistingCommand, ProjectState, ExistingProject, ProjectEvent>(
  {
    Change: change,
    Delete: () => [projectDeleted],
    DeleteIfAlone: ({ userId }, project) => {
      if (roleIn(project, userId) === null) memberNotFound();
      if (project.members.length > 1) rejectProject('project_has_members', 'the project has other members');
      return [projectDeleted];
    },
    GrantEntitlement: ({ entitlement, source }, project) =>
      holds(project, { entitlement, source })
        ? []
        : [{ type: 'EntitlementGranted', data: { entitlement, source } }],
    RevokeEntitlement: ({ entitlement, source }, project) =>
      holds(project, { entitlement, source })
        ? [{ type: 'EntitlementRevoked', data: { entitlement, source } }]
        : [],
    ChangeDefaultStorage: ({ storageId: storage_id }, { default_storage_id }) =>
      default_storage_id === storage_id ? [] : [{ type: 'DefaultStorageChanged', data: { storage_id } }],
    ...invitationDecisions,
    ...memberDecisions,
    ...offerDecisions,
    ...apiKeyDecisions,
  },
  existing,
);

/** The deletion, and what follows from other events or commands: these have nothing to do in a deleted project. */
const overWhenDeleted: ReadonlySet<ProjectCommand['type']> = new Set([
  ...(['Delete', 'DeleteIfAlone', 'RemoveErasedMember'] as const),
  ...(['MarkInvitationMailed', 'AcceptInvitation', 'EndInvitation'] as const),
]);

const decideOpen = decideBy<ProjectCommand, ProjectState, ProjectEvent>({
  // The id derives from the command, so an earlier attempt made the existing project.
  Create: ({ name, ownerId: owner_id }, { status }) =>
    status === 'absent' ? [{ type: 'ProjectCreated', data: { name, owner_id } }] : [],
  ReplaceDefaultStorage: ({ replaces, storageId: storage_id }, state) =>
    state.status === 'existing' && state.default_storage_id === replaces
      ? [{ type: 'DefaultStorageChanged', data: { storage_id } }]
      : [],
  EndGivenAccess: (command, state) => (state.status === 'existing' ? decideGivenAccess(command, state) : []),
  ...decideExisting,
});

function decide(command: ProjectCommand, state: ProjectState): readonly ProjectEvent[] {
  return state.status === 'deleted' && overWhenDeleted.has(command.type) ? [] : decideOpen(command, state);
}

function change(
  { name, require_2fa, accent_color, open_shares }: ProjectSettings,
  project: ExistingProject,
): readonly ProjectEvent[] {
  const events: ProjectEvent[] = [];
  if (name !== undefined && name !== project.name) events.push({ type: 'ProjectRenamed', data: { name } });
  if (require_2fa !== undefined && require_2fa !== project.require_2fa)
    events.push({ type: 'TwoFactorRequirementChanged', data: { require_2fa } });
  if (accent_color !== undefined && accent_color !== project.accent_color)
    events.push({ type: 'AccentColorChanged', data: { accent_color } });
  if (open_shares !== undefined && open_shares !== project.open_shares)
    events.push({ type: 'OpenSharesChanged', data: { open_shares } });
  return events;
}

function existing(state: ProjectState): ExistingProject {
  return state.status === 'existing' ? state : projectNotFound();
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

export const projectAggregate = defineAggregate(projectEvents, { initialState, decide, evolve });
