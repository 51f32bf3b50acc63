import { readLogToHead } from '../../areas/audit/tree/log-until.js';
import type { Config } from '../../config/config.js';
import type { Position, StoredEvent } from '../../event-sourcing/ports/domain-event.js';
import { UndecodableEvent } from '../../event-sourcing/ports/errors.js';
import { makeDataKeys } from '../../keys/sealing/sealer.js';
import {
  canaryRecord,
  findMismatches,
  parseCanaries,
  unknownMasterKeys,
} from '../../keys/rings/key-canaries.js';
import { dataKeyRecord } from '../../keys/sealing/envelope.js';
import { type KeyMaterial, loadKeys, readKeySettings } from '../../keys/rings/key-rings.js';
import { makeLog } from '../../log.js';
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { type OnShare, keyFileName } from './backup.js';
import { readManifest, verifyBackup } from './backup-folder.js';
import { makeNeededDataKeys } from './needed-data-keys.js';
import type { Stores } from '../../composition/opening/open-stores.js';
import { openWatchedStores } from '../../composition/opening/open-watched-stores.js';
import { systemClock, systemRandom } from '../../composition/system.js';
import { loadCheckpoints } from '../../event-sourcing/ports/records.js';

/** What a comparison has read, and in sentences what does not belong together. */
type RestoreReport = {
  readonly log: { readonly id: string | null; readonly head: Position | null; readonly events: number };
  /** Data keys that the log needs, and how many of them the state has. A destroyed key counts as there. Of stores only. */
  readonly data_keys?: { readonly needed: number; readonly found: number };
  /** Of stores only. */
  readonly views?: number;
  /** The files whose digests are those of the manifest. Of a folder only. */
  readonly files?: readonly string[];
  readonly problems: readonly string[];
};

const readsAtOnce = 20;
const namedMax = 5;

/**
 * Compares log, state, keys and views, or with a folder the files of a backup with its manifest. It changes nothing.
 * @throws StoreUnavailable, StoreDamaged, KeyProblem when something cannot be read at all
 */
export async function checkRestored(
  config: Config,
  folder: string | undefined,
  onShare: OnShare,
): Promise<RestoreReport> {
  if (folder !== undefined) return checkFolder(resolve(folder), onShare);
  const log = makeLog(config.logLevel, 'stderr');
  const watched = await openWatchedStores(config, {}, { clock: systemClock, random: systemRandom, log });
  try {
    const { stores } = watched;
    const keyFile = stores.allEmbedded ? join(config.dataDirectory, keyFileName) : (config.keysFile ?? null);
    return await compareStores(
      stores,
      loadKeys({ settings: readKeySettings(config.secret), keyFile }),
      onShare,
    );
  } finally {
    await watched.closeStores();
  }
}

async function checkFolder(folder: string, onShare: OnShare): Promise<RestoreReport> {
  const { files } = readManifest(folder);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  let read = 0;
  const content = await verifyBackup(folder, (more) => {
    read += more;
    onShare(read / bytes);
  });
  return {
    log: { id: content.log_id, head: content.position, events: content.events },
    files: files.map(({ name }) => name),
    problems: [],
  };
}

/** Compares opened stores and keys. See `checkRestored`. */
export async function compareStores(
  stores: Pick<Stores, 'eventStore' | 'stateStore' | 'readModelStore'>,
  keys: KeyMaterial,
  onShare: OnShare = () => undefined,
): Promise<RestoreReport> {
  const { eventStore, stateStore, readModelStore } = stores;
  const problems: string[] = [];
  const head = await eventStore.head();
  // A server without a log would get an id by this call.
  const id = head === null ? null : await eventStore.logId();
  if (head === null) problems.push('the log is empty');

  const stored = await stateStore.get(canaryRecord);
  if (stored === null) {
    problems.push('the state has no canaries of the keys: it is empty');
  } else {
    const canaries = parseCanaries(stored.value);
    problems.push(...findMismatches(canaries, keys).map(({ sentence }) => sentence));
    if (id !== null && canaries.log_id !== id) {
      problems.push(`the state belongs to the log ${canaries.log_id}, and the log is ${id}`);
    }
  }
  const dataKeys = makeDataKeys({ stateStore, masterKeys: keys.master, clock: systemClock, randomBytes });
  const counts = await dataKeys.countByMasterKey();
  problems.push(...unknownMasterKeys(counts, keys).map(({ sentence }) => sentence));

  const found = await findMissingDataKeys(stores, onShare);
  const { events, needed, missing } = found;
  problems.push(...problemsOf(found));

  const collections = await readModelStore.collections();
  const checkpoints = await loadCheckpoints(readModelStore, collections);
  for (const [name, { logId, position }] of checkpoints) {
    if (logId !== id) problems.push(`${name} has followed the log ${logId}; delete the read models`);
    else if (head !== null && position > head) {
      problems.push(`${name} has passed the end of the log, which is older; delete the read models`);
    }
  }
  return {
    log: { id, head, events },
    data_keys: { needed, found: needed - missing.length },
    views: checkpoints.size,
    problems,
  };
}

function problemsOf({ missing, undecodable }: Awaited<ReturnType<typeof findMissingDataKeys>>): string[] {
  const problems: string[] = [];
  if (undecodable.length > 0) {
    problems.push(
      `the log has ${undecodable.length} events that this release cannot read, for example ${undecodable[0]}; ` +
        'run the command of the release that wrote them',
    );
  }
  if (missing.length > 0) {
    const some = missing.slice(0, namedMax).join(', ');
    problems.push(
      `the state is older than the log: it lacks ${missing.length} data keys that the log needs, for example ${some}; ` +
        'restore a state that was backed up after the log',
    );
  }
  return problems;
}

async function findMissingDataKeys(
  { eventStore, stateStore }: Pick<Stores, 'eventStore' | 'stateStore'>,
  onShare: OnShare,
) {
  const neededBy = makeNeededDataKeys();
  const [missing, undecodable]: [string[], string[]] = [[], []];
  let [events, needed] = [0, 0];
  for await (const part of readLogToHead(eventStore)) {
    events += part.events.length;
    const records = part.events.flatMap(recordsOf);
    needed += records.length;
    for (let first = 0; first < records.length; first += readsAtOnce) {
      const found = records.slice(first, first + readsAtOnce).map(async (record) => {
        if ((await stateStore.get(record)) === null) missing.push(record);
      });
      await Promise.all(found);
    }
    onShare(part.share);
  }
  return { events, needed, missing, undecodable };

  function recordsOf(event: StoredEvent): readonly string[] {
    try {
      return neededBy(event).map(dataKeyRecord);
    } catch (error) {
      if (!(error instanceof UndecodableEvent)) throw error;
      undecodable.push(`revision ${event.revision} of ${event.stream}`);
      return [];
    }
  }
}
