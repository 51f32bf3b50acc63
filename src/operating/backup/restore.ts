import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Config, ConfigProblem } from '../../config/config.js';
import { StoreDamaged } from '../../event-sourcing/ports/errors.js';
import { readKeySettings } from '../../keys/rings/key-rings.js';
import { lockDirectory, unfinishedRestore } from '../../stores/embedded/files/directory-lock.js';
import { type OnShare, refuseServers, variablesThatDiffer } from './backup.js';
import {
  type BackupContent,
  copyFileDurably,
  namesIn,
  readManifest,
  syncPath,
  verifyBackup,
} from './backup-folder.js';

/** What a restore did. `set_before_start` names variables of keys that the data needs and that are not set rightly. */
export interface Restored extends BackupContent {
  readonly directory: string;
  readonly set_before_start: readonly string[];
}

const lockFiles: readonly string[] = ['lock.db', 'lock.db-journal'];

/**
 * Restores a backup into an empty data directory. It reads all of the backup before it writes. A restore that was
 * interrupted may be repeated; the service does not start on its half. Views are built again at the next start.
 * @throws StoreDamaged when the backup is not whole; ConfigProblem when the directory is not empty; KeyProblem when a
 * setting holds no keys
 */
export async function restoreBackup(
  config: Pick<Config, 'dataDirectory' | 'eventStoreDbUrl' | 'mongoDbUrl' | 'secret'>,
  folder: string,
  onShare: OnShare,
): Promise<Restored> {
  refuseServers(config, 'restores');
  const settings = readKeySettings(config.secret);
  const source = resolve(folder);
  const directory = config.dataDirectory;
  const bytes = readManifest(source).files.reduce((sum, file) => sum + file.bytes, 0);
  let read = 0;
  // Every file is read once to compare it, and once to copy it.
  const onBytes = (more: number): void => {
    read += more;
    onShare(bytes === 0 ? 1 : read / (2 * bytes));
  };
  const content = await verifyBackup(source, onBytes);
  refuseData(directory, content);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const unlock = lockDirectory(directory);
  try {
    // A service that started before the lock may have written.
    refuseData(directory, content);
    const flag = join(directory, unfinishedRestore);
    writeFileSync(flag, '', { mode: 0o600 });
    syncPath(directory);
    for (const { name, sha256 } of content.files) {
      const copied = await copyFileDurably(join(source, name), join(directory, name), onBytes);
      if (copied !== sha256)
        throw new StoreDamaged(`${name} of ${source} has changed during the restore; repeat it`);
    }
    // A key that cannot be read fails the restore, so it is read before the restore has ended.
    const differing = variablesThatDiffer(directory, settings);
    syncPath(directory);
    rmSync(flag);
    syncPath(directory);
    return { ...content, directory, set_before_start: differing };
  } finally {
    unlock();
  }
}

/** @throws ConfigProblem when the directory holds anything but what an interrupted restore has left */
function refuseData(directory: string, { files }: BackupContent): void {
  const names = namesIn(directory).filter((name) => !lockFiles.includes(name));
  if (names.length === 0) return;
  const restored = [unfinishedRestore, ...files.map(({ name }) => name)];
  if (names.includes(unfinishedRestore) && names.every((name) => restored.includes(name))) return;
  throw new ConfigProblem(
    `${directory} is not empty; set DATA_DIR to a new directory, or move the old one away`,
  );
}
