import type {
  Page,
  Versioned,
  ViewDocument,
  Views,
  Wanted,
} from '../../../src/event-sourcing/views/views.js';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { type Role, role } from '../../../src/areas/projects/domain/role.js';
import { billingOffer } from '../../../src/areas/projects/domain/project/open-offers.js';
import { roleIn } from '../../../src/areas/projects/domain/project/fold.js';
import { type DocumentsAfter, documentAfter, resourceOf } from '../../resource-of.js';
import { type ProjectDocument, projectsProjection } from './projection.js';
import { hasWords, searchedWords } from '../../words.js';
import { type CreationPage, filteredPage } from '../../filtered-page.js';
import { z } from 'zod';
import { entityId, instant, namedObject } from '../../../src/validation/fields.js';
import { accentColor } from '../../../src/areas/projects/domain/project/events.js';
import { sessionsProjection } from '../../accounts/sessions/projection.js';
import { sessionAccessOf } from '../../accounts/sessions/reader.js';
import { usersProjection } from '../../accounts/users/projection.js';
import { userAccessOf } from '../../accounts/users/reader.js';

/** A project as one member sees it (src/areas/projects/README.md#rules-of-a-project). */
export const projectResource = namedObject('Project', {
  id: entityId,
  name: z.string(),
  role,
  require_2fa: z.boolean(),
  accent_color: accentColor
    .nullable()
    .describe('The colour of the pages of its shares. Null: the colour of the service.'),
  open_shares: z.boolean().describe('Whether its shares may open without a password.'),
  billed_to: entityId.describe('The user whose capacity the assets use: an owner.'),
  used_bytes: z.int().describe('What its assets use of that capacity.'),
  billing_offer: namedObject('ProjectBillingOffer', {
    id: entityId,
    user_id: entityId,
    offered_by: entityId,
    expires_at: instant,
  })
    .nullable()
    .describe('The offer of the billing to another member, also an expired one; null where there is none.'),
  entitlements: z.strictObject({ allow_s3: z.boolean() }),
  created_at: instant,
  updated_at: instant,
});
export type ProjectResource = z.infer<typeof projectResource>;

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

/** What a list of projects selects. */
interface ProjectFilter {
  /** The role of the user. */
  readonly role?: Role | undefined;
  /** Words, each of which begins a word of the name. */
  readonly q?: string | undefined;
}

/** @throws StoreUnavailable */
export type ProjectReader = ReturnType<typeof makeProjectReader>;

/** What the assets of projects use, which are of an area above this one. */
export interface ProjectUsage {
  /** Returns what the assets of each project use, in bytes; 0 where there are none. */
  ofProjects(projectIds: readonly string[]): Promise<(projectId: string) => number>;
}

export function makeProjectReader({ views, usage }: { readonly views: Views; readonly usage: ProjectUsage }) {
  const projects = views.of(projectsProjection);
  return {
    /**
     * Returns the project as a user sees it; null if the user is not a member.
     * @param options.asAuditor treats users who are not members as viewers
     */
    present: (
      { document }: Pick<ProjectAccess, 'document'>,
      userId: string,
      { asAuditor }: { readonly asAuditor: boolean } = { asAuditor: false },
    ) => presentOne(document, userId, asAuditor ? 'viewer' : null),
    /** Lists the user's projects, newest first. */
    list: async (userId: string, page: Page) => {
      const where = { field: 'members.user_id', equals: userId };
      return presentEach(await projects.find({ where, descending: true, ...page }), userId);
    },
    /** Returns a page of the user's projects. */
    page: async (userId: string, page: CreationPage, { role, q }: ProjectFilter) => {
      const words = q === undefined ? [] : searchedWords(q);
      const matches = ({ body }: ViewDocument<ProjectDocument>): boolean =>
        (role === undefined || roleIn(body, userId) === role) &&
        // A search without letters and digits finds nothing: it has no words.
        (q === undefined || (words.length > 0 && hasWords(body.name, words)));
      const where = { field: 'members.user_id', equals: userId };
      const isFiltered = role !== undefined || q !== undefined;
      const { items, next } = await filteredPage(projects, { where, ...page }, isFiltered ? matches : null);
      return { items: (await presentEach(items, userId)).map(({ resource }) => resource), next };
    },
    /**
     * Returns the project after a command; null if the user is not a member.
     * @param options.isNew says that the command has made it, so it has no assets
     */
    after: (documents: DocumentsAfter, userId: string, { isNew = false } = {}) =>
      presentOne(documentAfter(projectsProjection, documents), userId, null, isNew ? nothingUsed : undefined),
    /** Returns the ids of the projects that count as owned by a user, in order; at most `limit`. */
    ownedIds: (userId: string, limit: number) =>
      projects.ids({ where: { field: 'owner_ids', equals: userId }, limit }),
    access: async (projectId: string) => {
      const document = await projects.get(projectId);
      return document === null ? null : projectAccessOf(document);
    },
  };

  async function presentOne(
    document: ViewDocument<ProjectDocument>,
    userId: string,
    roleOfStrangers: Role | null = null,
    used?: ProjectUsage['ofProjects'],
  ): Promise<Versioned<ProjectResource> | null> {
    return (await presentEach([document], userId, roleOfStrangers, used))[0] ?? null;
  }

  /** Leaves out the projects of which the user is not a member, unless `roleOfStrangers` has a role for them. */
  async function presentEach(
    documents: readonly ViewDocument<ProjectDocument>[],
    userId: string,
    roleOfStrangers: Role | null = null,
    used: ProjectUsage['ofProjects'] = (ids) => usage.ofProjects(ids),
  ): Promise<readonly Versioned<ProjectResource>[]> {
    const usedBy = await used(documents.map(({ id }) => id));
    return documents.flatMap(({ id, revision, body }) => {
      const role = roleIn(body, userId) ?? roleOfStrangers;
      if (role === null) return [];
      const computed = {
        used_bytes: usedBy(id),
        entitlements: entitlementsOf(body),
        ...billingOfferOf(body),
      };
      return [{ revision, resource: resourceOf(projectResource, { id, ...body, role, ...computed }) }];
    });
  }
}

const nothingUsed: ProjectUsage['ofProjects'] = () => Promise.resolve(() => 0);

function projectAccessOf(document: ViewDocument<ProjectDocument>): ProjectAccess {
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

function billingOfferOf(project: ProjectDocument): Pick<ProjectResource, 'billing_offer'> {
  const offer = billingOffer(project);
  if (offer === null) return { billing_offer: null };
  const { id, user_id, offered_by, expires_at } = offer;
  return { billing_offer: { id, user_id, offered_by, expires_at } };
}

function entitlementsOf({ entitlements }: ProjectDocument): { readonly allow_s3: boolean } {
  return { allow_s3: entitlements.some(({ entitlement }) => entitlement === 'allow_s3') };
}

/** The ids that a request names before anything is read: those of its access token and of its path. */
export interface SessionIds {
  readonly sessionId: string;
  readonly userId: string;
  /** Null: the path names no project. */
  readonly projectId: string | null;
  /** What the request asks for, below a project. */
  readonly wanted?: Wanted<JsonObject> | null;
}

interface ApiKeyAccess {
  readonly keyId: string;
  readonly issuedBy: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date;
  /** The project of the key. */
  readonly project: ProjectAccess;
}

/**
 * Reads what decides whether a request may proceed: the only reads that authorise. Each is one call to the store, and
 * none is cached, because a revoked session must end at once (src/areas/accounts/README.md#sessions). @throws StoreUnavailable
 */
export type AccessReader = ReturnType<typeof makeAccessReader>;

export function makeAccessReader({ views }: { readonly views: Views }) {
  const projects = views.of(projectsProjection);
  return {
    /** Returns null for each document that does not exist; the session is null also after its revocation. */
    session: async ({ sessionId, userId, projectId, wanted = null }: SessionIds) => {
      const ofSession = { projection: sessionsProjection, id: sessionId };
      const ofUser = { projection: usersProjection, id: userId };
      const ofProject = projectId === null ? null : { projection: projectsProjection, id: projectId };
      const {
        documents: [session, user, project = null],
        found,
      } =
        ofProject === null
          ? await views.getEach(null, ofSession, ofUser)
          : await views.getEach(wanted, ofSession, ofUser, ofProject);
      return {
        ...(found === undefined ? {} : { found }),
        session: session === null ? null : sessionAccessOf(session),
        user: user === null ? null : userAccessOf(user),
        project: project === null ? null : projectAccessOf(project),
      };
    },
    /** @param digest SHA-256 of the whole key, hexadecimal */
    apiKey: async (digest: string): Promise<ApiKeyAccess | null> => {
      const where = { field: 'api_keys.digest', equals: digest };
      const [document] = await projects.find({ where, limit: 1 });
      const key = document?.body.api_keys.find((entry) => entry.digest === digest);
      if (document === undefined || key === undefined) return null;
      const { id: keyId, issued_by: issuedBy, scopes, expires_at } = key;
      return { keyId, issuedBy, scopes, expiresAt: new Date(expires_at), project: projectAccessOf(document) };
    },
  };
}
