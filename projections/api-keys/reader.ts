import type { Page, Views } from '../../src/event-sourcing/views.js';
import type { Scope } from '../../src/domain/scope.js';
import { documentAfter, type DocumentsAfter } from '../after-command.js';
import { pageOfEntries } from '../page-of-entries.js';
import { type ApiKeyEntry, projectsProjection } from '../projects/projection.js';

/** What may be shown of an API key: enough to recognise it by. */
export type ApiKeyResource = {
  readonly id: string;
  readonly name: string;
  /** The first characters of the key and its last four. */
  readonly prefix: string;
  readonly last_four: string;
  readonly scopes: readonly Scope[];
  readonly expires_at: string;
  /** The id of a user. */
  readonly issued_by: string;
  readonly created_at: string;
};

/** @throws StoreUnavailable */
export interface ApiKeyReader {
  /** The project's keys, newest first; those that were revoked are gone. */
  list(projectId: string, page: Page): Promise<readonly ApiKeyResource[]>;
  /** A key as a command left it; null when there is none. */
  after(documents: DocumentsAfter, keyId: string): ApiKeyResource | null;
}

export function makeApiKeyReader({ views }: { readonly views: Views }): ApiKeyReader {
  const projects = views.of(projectsProjection);
  return {
    list: async (projectId, page) => {
      const document = await projects.get(projectId);
      return pageOfEntries(document?.body.api_keys ?? [], page).map((entry) => present(entry));
    },
    after: (documents, keyId) => {
      const { body } = documentAfter(projectsProjection, documents);
      const entry = body.api_keys.find(({ id }) => id === keyId);
      return entry === undefined ? null : present(entry);
    },
  };
}

function present({ digest: _digest, ...shown }: ApiKeyEntry): ApiKeyResource {
  return shown;
}
