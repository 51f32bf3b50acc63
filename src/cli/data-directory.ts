import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigProblem } from '../config/config.js';

/**
 * Refuses a data directory without the embedded stores that the configuration names. Only `serve` makes a data
 * directory: a command with a mistyped DATA_DIR must not work on an empty one. @throws ConfigProblem
 */
export function requireData({
  dataDirectory,
  eventStoreDbUrl,
  mongoDbUrl,
}: Pick<Config, 'dataDirectory' | 'eventStoreDbUrl' | 'mongoDbUrl'>): void {
  const files = [
    ...(eventStoreDbUrl === undefined ? ['events.db'] : []),
    ...(mongoDbUrl === undefined ? ['state.db'] : []),
  ];
  const missing = files.filter((file) => !existsSync(join(dataDirectory, file)));
  if (missing.length === 0) return;
  const what = existsSync(dataDirectory) ? `has no ${missing.join(' and no ')}` : 'does not exist';
  throw new ConfigProblem(
    `the data directory ${dataDirectory} ${what}; set DATA_DIR to the service's directory, or start the service once (stowage serve)`,
  );
}
