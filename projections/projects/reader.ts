import type { Page, Versioned, ViewDocument, Views } from '../../src/event-sourcing/views/views.js';
import type { Role } from '../../src/domain/role.js';
import { billingOffer } from '../../src/domain/project/offers.js';
import { roleIn } from '../../src/domain/project/status.js';
import { documentAfter, type DocumentsAfter } from '../after-command.js';
import { type ProjectDocument, projectsProjection } from './projection.js';
import { resourceOf } from '../resource-of.js';
import { projectResource, type ProjectResource } from './resource.js';

export type { ProjectResource } from './resource.js';

/** The fields that decide whether a request may use a project. */
export interface ProjectAccess {
  readonly id: string;
  readonly requireTwoFactor: boolean;
  readonly entitlements: { readonly allow_s3: boolean };
  readonly defaultStorageId: string | null;
  /** Returns null if the user is not a member. */
  roleOf(userId: string): Role | null;
  /** The document that the other fields are from. */
  readonly document: ViewDocument<ProjectDocument>;
}

/** @throws StoreUnavailable */
export interface ProjectReader {
  /**
   * Returns the project as a user sees it; null if the user is not a member.
   * @param options.asAuditor treats users who are not members as viewers
   */
  present(
    project: Pick<ProjectAccess, 'document'>,
    userId: string,
    options?: { readonly asAuditor: boolean },
  ): Versioned<ProjectResource> | null;
  /** Lists the user's projects, newest first. */
  list(userId: string, page: Page): Promise<readonly Versioned<ProjectResource>[]>;
  /** Returns the project after a command; null if the user is not a member. */
  after(documents: DocumentsAfter, userId: string): Versioned<ProjectResource> | null;
  access(projectId: string): Promise<ProjectAccess | null>;
}

export function makeProjectReader({ views }: { readonly views: Views }): ProjectReader {
  const projects = views.of(projectsProjection);
  return {
    present: ({ document }, userId, { asAuditor } = { asAuditor: false }) =>
      presentProject(document, userId, asAuditor ? 'viewer' : null),
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
      return document === null ? null : projectAccessOf(document);
    },
  };
}

/** Returns null if the user is not a member and `roleOfStrangers` is null. */
function presentProject(
  document: ViewDocument<ProjectDocument>,
  userId: string,
  roleOfStrangers: Role | null = null,
): Versioned<ProjectResource> | null {
  const { id, revision, body } = document;
  const role = roleIn(body, userId) ?? roleOfStrangers;
  if (role === null) return null;
  const entitlements = entitlementsOf(body);
  const offer = billingOffer(body);
  const billing_offer =
    offer === null
      ? null
      : { id: offer.id, user_id: offer.user_id, offered_by: offer.offered_by, expires_at: offer.expires_at };
  const fields = { id, ...body, role, entitlements, billing_offer };
  return { revision, resource: resourceOf(projectResource, fields) };
}

export function projectAccessOf(document: ViewDocument<ProjectDocument>): ProjectAccess {
  const { id, body } = document;
  return {
    id,
    document,
    requireTwoFactor: body.require_2fa,
    entitlements: entitlementsOf(body),
    defaultStorageId: body.default_storage_id,
    roleOf: (userId) => roleIn(body, userId),
  };
}

function entitlementsOf({ entitlements }: ProjectDocument): { readonly allow_s3: boolean } {
  return { allow_s3: entitlements.some(({ entitlement }) => entitlement === 'allow_s3') };
}
