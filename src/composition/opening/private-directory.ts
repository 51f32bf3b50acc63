import { statSync } from 'node:fs';
import { ConfigProblem } from '../../config/config.js';

/** Write permission of the group and of others. */
const othersWrite = 0o022;

/**
 * Refuses a data directory that other users may write: they could replace its files. One that does not exist is made
 * with access for this user alone (src/stores/embedded/README.md#one-owner).
 * @throws ConfigProblem
 */
export function requirePrivateDirectory(directory: string): void {
  // Windows reports modes that do not tell who may write.
  if (process.platform === 'win32') return;
  const mode = statSync(directory, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & othersWrite) === 0) return;
  throw new ConfigProblem(
    `other users may write DATA_DIR ${directory} (mode ${(mode & 0o777).toString(8)}), so they could replace its files; ` +
      `run: chmod go-w ${directory}`,
  );
}
