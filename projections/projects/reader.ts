import type { Page, Versioned, ViewDocument, Views } from '../../src/event-sourcing/views.js';
import type { Role } from '../../src/domain/role.js';
import { documentAfter, type DocumentsAfter } from '../after-command.js';
import { type ProjectDocument, projectsProjection } from './projection.js';

/** `project` of DESIGN 4.2, as one member sees it. */
export type ProjectResource = {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly require_2fa: boolean;
  readonly entitlements: { readonly allow_s3: boolean };
  readonly created_at: string;
  readonly updated_at: string;
};

/** What decides whether a request may touch a project. */
export interface ProjectAccess {
  readonly id: string;
  readonly requireTwoFactor: boolean;
  readonly entitlements: { readonly allow_s3: boolean };
  readonly defaultStorageId: string | null;
  /** Null for users that are no members. */
  roleOf(userId: string): Role | null;
}

export interface ApiKeyAccess {
  readonly keyId: string;
  readonly projectId: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date;
}

/** @throws StoreUnavailable */
export interface ProjectReader {
  /**
   * Null when there is no such project or the user is no member of it.
   * @param options.asAuditor shows it to others too, as to a viewer
   */
  find(
    projectId: string,
    userId: string,
    options?: { readonly asAuditor: boolean },
  ): Promise<Versioned<ProjectResource> | null>;
  /** The user's projects, newest first. */
  list(userId: string, page: Page): Promise<readonly Versioned<ProjectResource>[]>;
  /** The project as a command left it; null when the user is no member. */
  after(documents: DocumentsAfter, userId: string): Versioned<ProjectResource> | null;
  access(projectId: string): Promise<ProjectAccess | null>;
  /** @param digest SHA-256 of the whole key, hexadecimal */
  apiKey(digest: string): Promise<ApiKeyAccess | null>;
}

export function makeProjectReader({ views }: { readonly views: Views }): ProjectReader {
  const projects = views.of(projectsProjection);
  return {
    find: async (projectId, userId, { asAuditor } = { asAuditor: false }) => {
      const document = await projects.get(projectId);
      return document === null ? null : presentProject(document, userId, asAuditor ? 'viewer' : null);
    },
    list: async (userId, page) => {
      const where = { field: 'members.user_id', equals: userId };
      const found = await projects.find({ where, descending: true, ...page });
      return found
        .map((document) => presentProject(document, userId))
        .filter((presented) => presented !== null);
    },
    after: (documents, userId) => presentProject(documentAfter(projectsProjection, documents), userId),
    access: async (projectId) => {
      const document = await projects.get(projectId);
      return document === null ? null : accessOf(document);
    },
    apiKey: async (digest) => {
      const [document] = await projects.find({
        where: { field: 'api_keys.digest', equals: digest },
        limit: 1,
      });
      const key = document?.body.api_keys.find((entry) => entry.digest === digest);
      if (document === undefined || key === undefined) return null;
      const expiresAt = new Date(key.expires_at);
      return { keyId: key.id, projectId: document.id, scopes: key.scopes, expiresAt };
    },
  };
}

/** Null when the user is no member, unless strangers have a role here. */
function presentProject(
  document: ViewDocument<ProjectDocument>,
  userId: string,
  roleOfStrangers: Role | null = null,
): Versioned<ProjectResource> | null {
  const { id, revision, body } = document;
  const role = roleIn(body, userId) ?? roleOfStrangers;
  if (role === null) return null;
  const resource = {
    id,
    name: body.name,
    role,
    require_2fa: body.require_2fa,
    entitlements: entitlementsOf(body),
    created_at: body.created_at,
    updated_at: body.updated_at,
  };
  return { revision, resource };
}

function accessOf({ id, body }: ViewDocument<ProjectDocument>): ProjectAccess {
  return {
    id,
    requireTwoFactor: body.require_2fa,
    entitlements: entitlementsOf(body),
    defaultStorageId: body.default_storage_id,
    roleOf: (userId) => roleIn(body, userId),
  };
}

function roleIn({ members }: ProjectDocument, userId: string): Role | null {
  return members.find((member) => member.user_id === userId)?.role ?? null;
}

function entitlementsOf({ entitlements }: ProjectDocument): { readonly allow_s3: boolean } {
  return { allow_s3: entitlements.some(({ entitlement }) => entitlement === 'allow_s3') };
}
