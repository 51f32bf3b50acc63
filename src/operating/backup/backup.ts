import { codeOf } from '../../kit/errors.js';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Config, ConfigProblem } from '../../config/config.js';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import { canaryRecord, findMismatches, parseCanaries } from '../../keys/rings/key-canaries.js';
import { keySettingNames, type KeySettings, loadKeys } from '../../keys/rings/key-rings.js';
import { copiedFiles, copyStores, readCopiedRecord } from '../../stores/embedded/files/copy-stores.js';
import { lockDirectory } from '../../stores/embedded/files/directory-lock.js';
import { version } from '../../version.js';
import {
  type BackupContent,
  digestFile,
  formatManifest,
  manifestName,
  namesIn,
  syncPath,
  fillFolder,
} from './backup-folder.js';

/** The progress of a long command: the share that is done, from 0 to 1. */
export type OnShare = (share: number) => void;

export const keyFileName = 'keys.json';

/**
 * Copies log, state and keys of a data directory into a new folder, also while the service runs
 * (src/operating/README.md#backup-and-restore). The folder has its name only when it is whole and durable.
 * @throws ConfigProblem, StoreUnavailable, StoreDamaged with a sentence that says what to do
 */
export async function backUp(
  config: Pick<Config, 'dataDirectory' | 'eventStoreDbUrl' | 'mongoDbUrl'>,
  folder: string,
  { now, onShare }: { readonly now: Date; readonly onShare: OnShare },
): Promise<BackupContent & { readonly folder: string }> {
  refuseServers(config, 'copies');
  const directory = config.dataDirectory;
  const target = resolve(folder);
  if (namesIn(target).length > 0) {
    throw new ConfigProblem(`${target} is not empty; name a folder that does not exist`);
  }
  if (!namesIn(directory).includes(copiedFiles[0] ?? '')) {
    throw new ConfigProblem(`${directory} holds no data; DATA_DIR must name the directory of a service`);
  }
  const unlock = lockUnlessServed(directory);
  try {
    const content = await fillFolder(target, (partial) =>
      fill(partial, directory, { now, onShare, onMoment: unlock }),
    );
    return { ...content, folder: target };
  } finally {
    unlock();
  }
}

async function fill(
  partial: string,
  directory: string,
  input: { readonly now: Date; readonly onShare: OnShare; readonly onMoment: () => void },
): Promise<BackupContent> {
  const { now, onShare, onMoment } = input;
  const keyFile = join(directory, keyFileName);
  const copy = await copyStores({
    directory,
    target: partial,
    readBeside: () => readIfThere(keyFile),
    isSame: (one, other) => (one === null || other === null ? one === other : one.equals(other)),
    onMoment,
    onProgress: (done, all) => onShare(all === 0 ? 1 : done / all),
  });
  const { beside: keysJson } = copy;
  if (keysJson !== null) writeFileSync(join(partial, keyFileName), keysJson, { mode: 0o600 });
  const names = [...copiedFiles, ...(keysJson === null ? [] : [keyFileName])];
  const files: BackupContent['files'] = [];
  for (const name of names) {
    syncPath(join(partial, name));
    files.push({ name, ...(await digestFile(join(partial, name))) });
  }
  const apart = variablesThatDiffer(partial, {});
  const content: BackupContent = {
    format: 1,
    made_at: now.toISOString(),
    service_version: version,
    log_id: copy.logId,
    position: copy.position,
    events: copy.events,
    records: copy.records,
    state_version: copy.stateVersion,
    keys: Object.values(keySettingNames).filter((name) => !apart.includes(name)),
    keys_apart: [...apart],
    files,
  };
  writeFileSync(join(partial, manifestName), formatManifest(content), { mode: 0o600 });
  syncPath(join(partial, manifestName));
  syncPath(partial);
  return content;
}

/**
 * Returns the variables whose keys the data needs and that neither its keys.json nor the settings give.
 * @param directory holds state.db, and keys.json or none
 */
export function variablesThatDiffer(directory: string, settings: KeySettings): readonly string[] {
  const keyFile = join(directory, keyFileName);
  const all = Object.values(keySettingNames);
  const isComplete = all.length === Object.values(settings).filter((value) => value !== undefined).length;
  if (readIfThere(keyFile) === null && !isComplete) {
    return Object.entries(keySettingNames).flatMap(([ring, name]) =>
      settings[ring as keyof KeySettings] === undefined ? [name] : [],
    );
  }
  const stored = readCopiedRecord(directory, canaryRecord);
  if (stored === null) return [];
  const mismatches = findMismatches(parseCanaries(stored), loadKeys({ settings, keyFile }));
  return mismatches.map(({ ring }) => keySettingNames[ring]);
}

/** @throws ConfigProblem when the log or the state is on a server */
export function refuseServers(
  { eventStoreDbUrl, mongoDbUrl }: Pick<Config, 'eventStoreDbUrl' | 'mongoDbUrl'>,
  does: string,
): void {
  if (eventStoreDbUrl === undefined && mongoDbUrl === undefined) return;
  throw new ConfigProblem(
    `this command ${does} the files of embedded stores, and EVENTSTOREDB_URL or MONGODB_URL is set; back the servers up ` +
      'with their own tools, in the order that docs/backup.md#backup gives',
  );
}

/**
 * Owns the directory while the moment is chosen, unless a running service owns it: a service may start during the copy.
 * @returns the function that ends that, which may be called again
 */
function lockUnlessServed(directory: string): () => void {
  try {
    let unlock: (() => void) | null = lockDirectory(directory);
    return () => {
      unlock?.();
      unlock = null;
    };
  } catch (error) {
    if (error instanceof StoreUnavailable) return () => undefined;
    throw error;
  }
}

function readIfThere(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new StoreUnavailable(`${path} cannot be read (${codeOf(error)})`, { cause: error });
  }
}
