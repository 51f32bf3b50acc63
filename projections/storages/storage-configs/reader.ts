import type {
  FoundDocument,
  Page,
  Versioned,
  ViewDocument,
  Views,
} from '../../../src/event-sourcing/views/views.js';
import { describeWarning } from '../../../src/areas/storages/domain/delivery/test-failure.js';
import { type DocumentsAfter, documentAfter, resourceOf } from '../../resource-of.js';
import { projectsProjection } from '../../projects/projects/projection.js';
import type { ProjectAccess } from '../../projects/projects/reader.js';
import { type StorageDocument, storageConfigsProjection } from './projection.js';
import { type CreationPage, filteredPage, type FilterOf, matchesOf } from '../../filtered-page.js';
import { storageResource, type StorageResource } from './resource.js';

/** @throws StoreUnavailable */
export type StorageReader = ReturnType<typeof makeStorageReader>;

export function makeStorageReader({ views }: { readonly views: Views }) {
  const storages = views.of(storageConfigsProjection);
  const projects = views.of(projectsProjection);
  return {
    wanted: (id: string) => ({ projection: storageConfigsProjection, id }),
    /**
     * Returns null if the project does not have the storage.
     * @param project as just read; if it is omitted, the reader reads it
     * @param found see `View.get`
     */
    find: async (
      projectId: string,
      storageId: string,
      project?: Pick<ProjectAccess, 'defaultStorageId'>,
      found?: FoundDocument,
    ) => {
      const [document, defaultId] = await Promise.all([
        storages.get(storageId, found),
        project === undefined ? defaultStorageId(projectId) : project.defaultStorageId,
      ]);
      return document?.body.project_id === projectId ? presentStorage(document, defaultId) : null;
    },
    /** Returns a page of the project's storages. */
    page: async (
      { id, defaultStorageId: defaultId }: Pick<ProjectAccess, 'id' | 'defaultStorageId'>,
      page: CreationPage,
      filter: FilterOf<StorageResource, 'status' | 'provider'>,
    ) => {
      const matches = matchesOf(filter);
      const { items, next } = await filteredPage(
        storages,
        { where: inProject(id), ...page },
        matches && (({ body }) => matches(body)),
      );
      return { items: items.map((document) => presentStorage(document, defaultId).resource), next };
    },
    /** Returns the storage after a command. @param project as the caller has read it; read when left out */
    after: async (documents: DocumentsAfter, project?: Pick<ProjectAccess, 'defaultStorageId'>) => {
      const document = documentAfter(storageConfigsProjection, documents);
      const defaultId = project?.defaultStorageId ?? null;
      return presentStorage(
        document,
        project === undefined ? await defaultStorageId(document.body.project_id) : defaultId,
      );
    },
    /** Returns how media URLs use `cdn_domain`; null if the project does not have the storage. */
    delivery: async (projectId: string, storageId: string) => {
      const document = await storages.get(storageId);
      if (document?.body.project_id !== projectId) return null;
      const { delivery: mode, cdn_token: token } = document.body;
      return { revision: document.revision, resource: token == null ? { mode } : { mode, token } };
    },
    /** Lists the ids of storages of the project. */
    ids: async (projectId: string, page: Page): Promise<readonly string[]> => {
      const documents = await storages.find({ where: inProject(projectId), ...page });
      return documents.map(({ id }) => id);
    },
    /** Lists the ids of storages of all projects whose bucket has the name. */
    withBucket: (bucket: string, page: Page) =>
      storages.ids({ where: { field: 'bucket', equals: bucket }, ...page }),
  };

  async function defaultStorageId(projectId: string): Promise<string | null> {
    return (await projects.get(projectId))?.body.default_storage_id ?? null;
  }
}

function inProject(projectId: string): { readonly field: string; readonly equals: string } {
  return { field: 'project_id', equals: projectId };
}

/** @param defaultId the default storage of the project; null if it has none */
function presentStorage(
  { id, revision, body }: ViewDocument<StorageDocument>,
  defaultId: string | null,
): Versioned<StorageResource> {
  const warnings = body.warnings.map((warning) => describeWarning(warning, body.provider));
  return {
    revision,
    resource: resourceOf(storageResource, { id, ...body, warnings, is_default: id === defaultId }),
  };
}
