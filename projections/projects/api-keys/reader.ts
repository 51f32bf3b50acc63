import type { Page } from '../../../src/event-sourcing/views/views.js';
import { type DocumentsAfter, documentAfter, resourceOf } from '../../resource-of.js';
import { pageOfEntries } from '../../paging.js';
import { projectsProjection } from '../projects/projection.js';
import type { ProjectAccess } from '../projects/reader.js';
import { z } from 'zod';
import { entityId, instant, namedObject } from '../../../src/validation/fields.js';
import { scope } from '../../../src/areas/projects/domain/role.js';

/** An API key as it is listed (src/areas/projects/README.md#api-keys). */
export const apiKeyResource = namedObject('ApiKey', {
  id: entityId,
  name: z.string(),
  prefix: z.string().describe('The first characters of the key.'),
  last_four: z.string(),
  scopes: z.array(scope),
  expires_at: instant,
  issued_by: entityId.describe('The id of a user.'),
  created_at: instant,
});
export type ApiKeyResource = z.infer<typeof apiKeyResource>;

/** Reads keys in the documents of their projects. */
export type ApiKeyReader = ReturnType<typeof makeApiKeyReader>;

export function makeApiKeyReader() {
  return {
    /** Lists the project's keys that are not revoked, newest first. @param filter.expired by `now`; all keys when left out */
    list: (
      { document: { body } }: Pick<ProjectAccess, 'document'>,
      page: Page,
      { expired, now }: { readonly expired?: boolean | undefined; readonly now: Date },
    ) => {
      const isExpired = ({ expires_at }: { readonly expires_at: string }): boolean =>
        Date.parse(expires_at) <= now.getTime();
      const keys =
        expired === undefined ? body.api_keys : body.api_keys.filter((key) => isExpired(key) === expired);
      return pageOfEntries(keys, page).map((entry) => resourceOf(apiKeyResource, entry));
    },
    /** Returns the key after a command; null if it does not exist. */
    after: (documents: DocumentsAfter, keyId: string) => {
      const { body } = documentAfter(projectsProjection, documents);
      const entry = body.api_keys.find(({ id }) => id === keyId);
      return entry === undefined ? null : resourceOf(apiKeyResource, entry);
    },
  };
}
