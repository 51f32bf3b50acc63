import { relative, sep } from 'node:path';
import { makeAuditLog } from '../../areas/audit/signing/audit-log.js';
import {
  checkCheckpointFolder,
  checkpointPaths,
  makeCheckpointFolder,
  outsidePath,
} from '../../areas/audit/signing/checkpoint-folder.js';
import { makePages } from '../../areas/audit/signing/pages.js';
import { makeAuditHistory } from '../../areas/audit/history/history.js';
import { makeLogResources } from '../../areas/audit/history/log-resources.js';
import { makeNoteSigner } from '../../areas/audit/tree/note.js';
import { makeProjectOf } from '../../areas/audit/history/project-of.js';
import { makeSequencer } from '../../areas/audit/signing/sequencer.js';
import { makeSigner } from '../../areas/audit/signing/signer.js';
import { makeTileStore } from '../../areas/audit/tree/tile-store.js';
import { makeTreeReader } from '../../areas/audit/tree/tree-reader.js';
import { makeSweep } from '../../areas/audit/signing/sweep.js';
import { makeWitnesses, type PostText } from '../../areas/audit/signing/witnesses.js';
import type { Clock, Random } from '../../kit/time/clock.js';
import { auditConsumer } from '../../event-sourcing/feeding/consumers/tasks.js';
import type { Lease } from '../../event-sourcing/feeding/consumers/lease.js';
import { makeShortLog } from '../../event-sourcing/feeding/read-log.js';
import type { Config } from '../../config/config.js';
import type { Keyring } from '../../keys/rings/keyring.js';
import type { Log } from '../../log.js';
import { projectOfFirstEvent } from '../../../projections/audit/fold-views.js';
import { makeAuditReader } from '../../../projections/audit/reader.js';
import { projections } from '../../../projections/index.js';
import type { Stores } from '../opening/open-stores.js';
import type { NoteRetry } from '../opening/store-reports.js';
import { sentenceOf } from '../starting.js';

/** The audit log of a process: src/areas/audit/README.md#audit-log. */
export type Audit = Awaited<ReturnType<typeof openAudit>>;

/** A witness that does not answer within this time is asked again later. */
const witnessMs = 10_000;
/** Longer replies of a witness are cut off: a cosignature has some 200 bytes. */
const replyBytesMax = 64 * 1024;

/** @throws FolderProblem when `AUDIT_CHECKPOINT_DIR` cannot be written */
export async function openAudit(deps: {
  readonly config: Pick<Config, 'auditCheckpointDirectory' | 'auditWitnesses' | 'dataDirectory'>;
  readonly stores: Stores;
  readonly keys: Keyring;
  /** Path of the `keys.json` that the service writes; null where it writes none. */
  readonly keyFile: string | null;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly noteRetry: NoteRetry;
  readonly sleepUntilRetry: Clock['sleep'];
}) {
  const { config, stores, keys, random } = deps;
  const { logger } = deps.log;
  const { eventStore, readModelStore, stateStore } = stores;
  const { auditCheckpointDirectory: directory, auditWitnesses, dataDirectory } = config;
  if (directory !== undefined) await checkCheckpointFolder(outsidePath(directory));
  // The loops of the audit log retry, and measure no time limit by a sleep.
  const clock: Clock = { ...deps.clock, sleep: deps.sleepUntilRetry };
  const onRetry = (error: Error, attempt: number): void => {
    deps.noteRetry('the audit log waits', error, { attempt });
  };
  const onDefect = (error: unknown): void => {
    logger.error({ error: sentenceOf(error) }, 'the audit log failed');
  };
  const tiles = makeTileStore(readModelStore);
  const projectOf = makeProjectOf({ eventStore, projectOfFirst: projectOfFirstEvent });
  const sequencer = makeSequencer({
    ...{ eventStore, tiles, projectOf, clock, random, onRetry },
    onProblem: ({ kind, reason }) => {
      logger.error({ kind, problem: reason }, 'the audit log is not sequenced any further');
    },
  });
  const tileMissing = (): void => log.tileMissing();
  const tree = makeTreeReader(tiles, tileMissing);
  const resources = makeLogResources({ eventStore, tree });
  const pages = makePages({ tiles, resources, onMissing: tileMissing });
  const history = makeAuditHistory({ eventStore, resources, tree, tiles, projectOf });
  const signer = makeSigner({
    ...{ stateStore, clock },
    // The check that ends a contradiction needs the tree, so its reads may start a rebuild.
    tree: makeTreeReader(tiles, sequencer.startOver),
    pages,
    stored: sequencer.stored,
    seeds: () => keys.all().map(({ key }) => key),
    folders: checkpointPaths({ directory, dataDirectory, keyFile: deps.keyFile }).map(makeCheckpointFolder),
    shortLog: makeShortLog({ clock, waitMs: eventStore.shortLogMs }),
  });
  const sweep = makeSweep({
    ...{ pages, clock, onRetry, onDefect },
    stored: sequencer.stored,
    shortLog: makeShortLog({ clock, waitMs: eventStore.shortLogMs }),
  });
  const log = makeAuditLog(
    {
      ...{ sequencer, signer, tiles, sweep, stateStore, clock, random },
      witnessesOf: (answered) =>
        makeWitnesses({ witnesses: auditWitnesses, answered, tree, post: postText, clock }),
    },
    {
      onRetry,
      onFindings: (found) => {
        const contradictions = found.map(({ source, what, size }) => ({ source, what, size }));
        if (found.length === 0) logger.info('no check of the audit log finds a contradiction any more');
        else
          logger.error(
            { contradictions },
            'the audit log contradicts what was signed; no checkpoint is signed',
          );
      },
      onAwaited: (waiting) => {
        logger.warn(
          { witnesses: waiting },
          'no checkpoint is signed until these witnesses have answered; AUDIT_WITNESSES names them',
        );
      },
      onDefect,
    },
  );
  return {
    ...{ log, sweep, tree, tiles, resources },
    reader: makeAuditReader({ history, eventStore, projectOf, views: projections }),
    /** Returns the public keys of an origin as vkeys, the active one first. */
    vkeys: (origin: string) => keys.all().map(({ key }) => makeNoteSigner(origin, key).vkey),
  };
}

/**
 * Returns a sentence when no checkpoint leaves the service: neither a folder outside the data directory nor a witness is
 * set. A process that reads its keys keeps no copy beside them either.
 */
export function missingCopies(
  config: Pick<Config, 'auditCheckpointDirectory' | 'auditWitnesses' | 'dataDirectory'>,
): string | null {
  const { auditCheckpointDirectory: directory, auditWitnesses, dataDirectory } = config;
  const isInside = directory === undefined || relative(dataDirectory, directory).split(sep)[0] !== '..';
  if (auditWitnesses.length > 0 || !isInside) return null;
  return (
    'the checkpoints of the audit log have no copy outside this service: set AUDIT_CHECKPOINT_DIR to a folder elsewhere, or ' +
    `AUDIT_WITNESSES. Without one, a person who changes the log and removes the checkpoints in ${dataDirectory} leaves no trace`
  );
}

/** Runs the audit log until the signal aborts. A failure of it ends no request: it is a line in the log. */
export async function runAudit(
  { log }: Audit,
  { leases, log: { logger } }: { readonly leases: { readonly feeder: Lease }; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const { feeder } = leases;
  feeder.add(auditConsumer, () => {
    const { problem } = log.status();
    if (!feeder.isOwner()) return { state: null, lagMs: 0, problem: null };
    return { state: problem === null ? 'running' : 'failing', lagMs: 0, problem };
  });
  await log
    .run(signal, () => feeder.isOwner())
    .catch((error: unknown) => logger.error({ error: sentenceOf(error) }, 'the audit log stopped'));
}

/** The operator has chosen the addresses, which may be private. */
const postText: PostText = async (url, body) => {
  const response = await fetch(url, {
    ...{ method: 'POST', body, redirect: 'error' as const },
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    signal: AbortSignal.timeout(witnessMs),
  });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += (chunk as Uint8Array).length;
    if (length > replyBytesMax) throw new Error('the reply of a witness is too long');
    chunks.push(chunk as Uint8Array);
  }
  return { status: response.status, body: Buffer.concat(chunks).toString('utf8') };
};
