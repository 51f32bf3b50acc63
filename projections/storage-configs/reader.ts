import type { Page, Versioned, ViewDocument, Views } from '../../src/event-sourcing/views.js';
import { documentAfter, type DocumentsAfter } from '../after-command.js';
import { projectsProjection } from '../projects/projection.js';
import type { ProjectAccess } from '../projects/reader.js';
import { type StorageDocument, storageConfigsProjection } from './projection.js';

/** The storage configuration of the API document, 2.1. */
export type StorageResource = {
  readonly id: string;
  readonly project_id: string;
  readonly name: string;
  readonly provider: 'oss' | 'cos' | 's3';
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly base_path: string;
  readonly cdn_domain: string;
  readonly status: 'pending' | 'testing' | 'active' | 'failed' | 'disabled';
  readonly is_default: boolean;
  readonly last_test_at: string | null;
  readonly last_error: string;
  readonly has_credentials: boolean;
  readonly created_at: string;
  readonly updated_at: string;
};

/** @throws StoreUnavailable */
export interface StorageReader {
  /**
   * Null when the project has no such storage.
   * @param project as it has just been read; read here when left out
   */
  find(
    projectId: string,
    storageId: string,
    project?: Pick<ProjectAccess, 'defaultStorageId'>,
  ): Promise<Versioned<StorageResource> | null>;
  /** The project's storages, newest first. */
  list(projectId: string, page: Page): Promise<readonly Versioned<StorageResource>[]>;
  /** The storage as a command left it. */
  after(documents: DocumentsAfter): Promise<Versioned<StorageResource>>;
  /** How the storage's `cdn_domain` is used; null when the project has no such storage. */
  delivery(
    projectId: string,
    storageId: string,
  ): Promise<Versioned<{ readonly mode: StorageDocument['delivery'] }> | null>;
  /** The ids of the project's storages, at most `limit`. */
  ids(projectId: string, limit: number): Promise<readonly string[]>;
}

export function makeStorageReader({ views }: { readonly views: Views }): StorageReader {
  const storages = views.of(storageConfigsProjection);
  const projects = views.of(projectsProjection);
  return {
    find: async (projectId, storageId, project) => {
      const document = await storages.get(storageId);
      if (document?.body.project_id !== projectId) return null;
      const defaultId = project === undefined ? await defaultStorageId(projectId) : project.defaultStorageId;
      return presentStorage(document, defaultId);
    },
    list: async (projectId, page) => {
      const [documents, defaultId] = await Promise.all([
        storages.find({ where: inProject(projectId), descending: true, ...page }),
        defaultStorageId(projectId),
      ]);
      return documents.map((document) => presentStorage(document, defaultId));
    },
    after: async (documents) => {
      const document = documentAfter(storageConfigsProjection, documents);
      return presentStorage(document, await defaultStorageId(document.body.project_id));
    },
    delivery: async (projectId, storageId) => {
      const document = await storages.get(storageId);
      if (document?.body.project_id !== projectId) return null;
      return { revision: document.revision, resource: { mode: document.body.delivery } };
    },
    ids: async (projectId, limit) => {
      const documents = await storages.find({ where: inProject(projectId), limit });
      return documents.map(({ id }) => id);
    },
  };

  async function defaultStorageId(projectId: string): Promise<string | null> {
    return (await projects.get(projectId))?.body.default_storage_id ?? null;
  }
}

function inProject(projectId: string): { readonly field: string; readonly equals: string } {
  return { field: 'project_id', equals: projectId };
}

/** @param defaultId the default storage of the project, null when it has none */
function presentStorage(
  { id, revision, body }: ViewDocument<StorageDocument>,
  defaultId: string | null,
): Versioned<StorageResource> {
  const resource = {
    id,
    project_id: body.project_id,
    name: body.name,
    provider: body.provider,
    endpoint: body.endpoint,
    bucket: body.bucket,
    region: body.region,
    base_path: body.base_path,
    cdn_domain: body.cdn_domain,
    status: body.status,
    is_default: id === defaultId,
    last_test_at: body.last_test_at,
    last_error: body.last_error,
    has_credentials: body.has_credentials,
    created_at: body.created_at,
    updated_at: body.updated_at,
  };
  return { revision, resource };
}
