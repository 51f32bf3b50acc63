import type { Recorded } from '../../src/event-sourcing/domain-event.js';
import type { Projection } from '../../src/event-sourcing/projection.js';
import { projectCodec, type ProjectEvent } from '../../src/domain/project/events.js';
import type { Role } from '../../src/domain/role.js';
import { projectCategory } from '../../src/domain/project/stream.js';

export type ProjectDocument = {
  readonly name: string;
  readonly require_2fa: boolean;
  readonly members: readonly { readonly user_id: string; readonly role: Role }[];
  /** Each source of each entitlement. */
  readonly entitlements: readonly { readonly entitlement: string; readonly source: string }[];
  readonly api_keys: readonly ApiKeyEntry[];
  readonly default_storage_id: string | null;
  readonly created_at: string;
  readonly updated_at: string;
};

/** `digest`: SHA-256 of the whole key, hexadecimal. */
export type ApiKeyEntry = {
  readonly id: string;
  readonly digest: string;
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
};

function evolve(document: ProjectDocument | null, event: Recorded<ProjectEvent>): ProjectDocument | null {
  if (event.type === 'ProjectCreated') {
    return {
      name: event.data.name,
      require_2fa: false,
      members: [{ user_id: event.data.owner_id, role: 'owner' }],
      entitlements: [],
      api_keys: [],
      default_storage_id: null,
      created_at: event.time,
      updated_at: event.time,
    };
  }
  if (document === null) return null;
  const touched = { ...document, updated_at: event.time };
  switch (event.type) {
    case 'MemberAdded': {
      const others = document.members.filter(({ user_id }) => user_id !== event.data.user_id);
      return { ...touched, members: [...others, event.data] };
    }
    case 'EntitlementGranted':
      return { ...touched, entitlements: [...withoutGrant(document, event.data), event.data] };
    case 'EntitlementRevoked':
      return { ...touched, entitlements: withoutGrant(document, event.data) };
    case 'DefaultStorageChanged':
      return { ...touched, default_storage_id: event.data.storage_id };
  }
}

function withoutGrant(
  { entitlements }: ProjectDocument,
  grant: { readonly entitlement: string; readonly source: string },
): ProjectDocument['entitlements'] {
  return entitlements.filter(
    ({ entitlement, source }) => entitlement !== grant.entitlement || source !== grant.source,
  );
}

export const projectsProjection: Projection<ProjectDocument, ProjectEvent> = {
  name: 'projects',
  version: 1,
  category: projectCategory,
  codec: projectCodec,
  indexes: ['members.user_id', 'api_keys.digest'],
  evolve,
};
