import type { Views } from '../../src/event-sourcing/views/views.js';
import { projectsProjection } from './projects/projection.js';
import { type ProjectAccess, projectAccessOf } from './projects/reader.js';
import { sessionsProjection } from '../accounts/sessions/projection.js';
import { sessionAccessOf } from '../accounts/sessions/reader.js';
import { usersProjection } from '../accounts/users/projection.js';
import { userAccessOf } from '../accounts/users/reader.js';

/** The ids that a request names before anything is read: those of its access token and of its path. */
export interface SessionIds {
  readonly sessionId: string;
  readonly userId: string;
  /** Null: the path names no project. */
  readonly projectId: string | null;
}

export interface ApiKeyAccess {
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
    session: async ({ sessionId, userId, projectId }: SessionIds) => {
      const ofSession = { projection: sessionsProjection, id: sessionId };
      const ofUser = { projection: usersProjection, id: userId };
      const [session, user, project = null] =
        projectId === null
          ? await views.getEach(ofSession, ofUser)
          : await views.getEach(ofSession, ofUser, { projection: projectsProjection, id: projectId });
      return {
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
