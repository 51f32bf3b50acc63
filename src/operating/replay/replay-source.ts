import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openExportedLog } from '../../areas/audit/history/exported-log.js';
import { type LogPart, readLogToHead, ReplayProblem } from '../../areas/audit/tree/log-until.js';
import { type Config, ConfigProblem } from '../../config/config.js';
import { hasEvents } from '../../event-sourcing/feeding/read-log.js';
import type { EventStore } from '../../event-sourcing/ports/event-store.js';
import { openLogReader } from '../../stores/embedded/log/category-reader.js';
import { checkConnections, eventStoreDbPolicy } from '../../composition/opening/connections.js';
import { systemClock, systemRandom } from '../../composition/system.js';

/** Where the events of a replay come from. */
export type ReplayOrigin =
  | { readonly kind: 'log'; readonly log_id: string }
  /** `size` and `root` (base64) are those of the checkpoint, whose signature a replay does not check. */
  | { readonly kind: 'export'; readonly origin: string; readonly size: number; readonly root: string };

/** The events of a log, or of an export of it. */
export interface ReplaySource {
  readonly origin: ReplayOrigin;
  /** @throws ReplayProblem, StoreUnavailable, StoreDamaged */
  readonly parts: () => AsyncIterable<LogPart>;
  readonly close: () => Promise<void>;
}

/**
 * Opens the export in a folder, or without one the log of the configuration for reading, also while a service writes it.
 * @throws ConfigProblem, ReplayProblem, StoreUnavailable, StoreDamaged
 */
export async function openReplaySource(config: Config, folder: string | undefined): Promise<ReplaySource> {
  if (folder === undefined) return openOwnLog(config);
  const { origin, size, root, parts } = await openExportedLog(resolve(folder));
  return {
    origin: { kind: 'export', origin, size, root: root.toString('base64') },
    parts,
    close: () => Promise.resolve(),
  };
}

async function openOwnLog(config: Config): Promise<ReplaySource> {
  const eventStore = config.eventStoreDbUrl === undefined ? openFile(config) : await openServer(config);
  try {
    // A log without events would get a stamp by the next call.
    if (!(await hasEvents(eventStore))) throw new ReplayProblem('the log has no event');
    return {
      origin: { kind: 'log', log_id: await eventStore.logId() },
      parts: () => readLogToHead(eventStore),
      close: async () => {
        await eventStore.close();
      },
    };
  } catch (error) {
    await eventStore.close();
    throw error;
  }
}

type ReadLog = Pick<EventStore, 'logId' | 'head' | 'readAll'> & { close(): Promise<void> | void };

function openFile({ dataDirectory: directory, streamPrefix }: Config): ReadLog {
  if (!existsSync(join(directory, 'events.db'))) {
    throw new ConfigProblem(
      `${directory} has no log; set DATA_DIR to the directory of a service, or name an export by --from`,
    );
  }
  return openLogReader({ directory, streamPrefix });
}

async function openServer(config: Config): Promise<ReadLog> {
  checkConnections(config);
  const { openEventStoreDb } = await import('../../stores/eventstoredb/event-store.js');
  return openEventStoreDb({
    url: config.eventStoreDbUrl ?? '',
    policy: eventStoreDbPolicy(config),
    streamPrefix: config.streamPrefix,
    clock: systemClock,
    random: systemRandom,
  });
}
