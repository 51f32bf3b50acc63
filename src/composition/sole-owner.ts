import type { Config } from '../config/config.js';
import { isServed } from '../operating/socket/client.js';
import { controlSocketPath } from '../operating/socket/listen.js';
import { StoreUnavailable } from '../event-sourcing/ports/errors.js';
import { inUse } from '../stores/embedded/files/directory-lock.js';

/**
 * Refuses a data directory whose service answers on its control socket. The lock alone does not show a service whose
 * lock.db was deleted: src/stores/embedded/README.md#one-owner. Processes on servers may share a directory.
 * @throws StoreUnavailable
 */
export async function requireSoleOwner({
  dataDirectory,
  eventStoreDbUrl,
  mongoDbUrl,
}: Pick<Config, 'dataDirectory' | 'eventStoreDbUrl' | 'mongoDbUrl'>): Promise<void> {
  if (eventStoreDbUrl !== undefined && mongoDbUrl !== undefined) return;
  // A socket that this user may not open is another user's, whose files the stores refuse.
  const served = await isServed(controlSocketPath(dataDirectory)).catch(() => false);
  if (served) throw new StoreUnavailable(inUse(dataDirectory));
}
