import type { AuditHistorySource } from '../../../src/areas/audit/routes/audit-events.js';
import type { AuditSource } from '../../../src/areas/audit/routes/audit-log.js';
import { makeAuditLog } from '../../../src/areas/audit/signing/audit-log.js';
import { makeAuditHistory } from '../../../src/areas/audit/history/history.js';
import { makeLogResources } from '../../../src/areas/audit/history/log-resources.js';
import { makeNoteSigner, checkpointText, noteOf } from '../../../src/areas/audit/tree/note.js';
import { makePages } from '../../../src/areas/audit/signing/pages.js';
import { makeShortLog } from '../../../src/event-sourcing/feeding/read-log.js';
import { makeProjectOf } from '../../../src/areas/audit/history/project-of.js';
import { makeSequencer } from '../../../src/areas/audit/signing/sequencer.js';
import { makeSweep } from '../../../src/areas/audit/signing/sweep.js';
import { makeTileStore } from '../../../src/areas/audit/tree/tile-store.js';
import { makeTreeReader } from '../../../src/areas/audit/tree/tree-reader.js';
import { makeWitnesses } from '../../../src/areas/audit/signing/witnesses.js';
import type { Clock } from '../../../src/kit/time/clock.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import { projectOfFirstEvent } from '../../../projections/audit/fold-views.js';
import { makeAuditReader } from '../../../projections/audit/reader.js';
import { projections } from '../../../projections/index.js';
import { makeMemoryReadModelStore } from '../fakes/memory-read-model-store.js';
import { auditSeed } from './audit-scene.js';
import { originOf, type SignedRecord } from '../../../src/areas/audit/signing/audit-records.js';
import { makeLogAccumulator } from '../../../src/areas/audit/tree/log-accumulator.js';

const ignore = (): void => undefined;

/** What all routes of the audit log need. */
export type TestAudit = AuditSource & AuditHistorySource;

/** Makes an audit log that reads its stores and does not run: nothing is sequenced or signed. */
export function makeIdleAudit({
  eventStore,
  stateStore,
  clock,
}: {
  readonly eventStore: EventStore;
  readonly stateStore: StateStore;
  readonly clock: Clock;
}): TestAudit {
  const random = Math.random;
  const tiles = makeTileStore(makeMemoryReadModelStore());
  const projectOf = makeProjectOf({ eventStore, projectOfFirst: projectOfFirstEvent });
  const sequencer = makeSequencer({
    ...{ eventStore, tiles, projectOf, clock, random },
    onRetry: ignore,
    onProblem: ignore,
  });
  const tree = makeTreeReader(tiles, sequencer.startOver);
  const resources = makeLogResources({ eventStore, tree });
  const { stored, startOver: onMissing } = sequencer;
  const pages = makePages({ tiles, resources, onMissing });
  const shortLog = makeShortLog({ clock, waitMs: eventStore.shortLogMs });
  const sweep = makeSweep({ pages, clock, stored, shortLog, onRetry: ignore, onDefect: ignore });
  const post = () => Promise.reject(new Error('no witness'));
  const log = makeAuditLog(
    {
      ...{ sequencer, tiles, sweep, stateStore, clock, random },
      signer: {
        pass: () => Promise.resolve(null),
        keep: () => Promise.resolve(),
        draft: () => {
          throw new Error('this log has no witness to ask');
        },
      },
      witnessesOf: (answered) => makeWitnesses({ witnesses: [], answered, tree, post, clock }),
    },
    { onRetry: ignore, onFindings: ignore, onAwaited: ignore, onDefect: ignore },
  );
  const history = makeAuditHistory({ eventStore, resources, tree, tiles, projectOf });
  const reader = makeAuditReader({ history, eventStore, projectOf, views: projections });
  return { log, sweep, tree, resources, reader, vkeys: (origin) => [makeNoteSigner(origin, auditSeed).vkey] };
}

/**
 * Makes an audit log that sequences and signs when a test says so, so that a test waits for nothing. Tiles, tree and
 * notes are real.
 */
export function makeAuditOnDemand(
  stores: Parameters<typeof makeIdleAudit>[0],
): TestAudit & { readonly sign: () => Promise<SignedRecord> } {
  const { eventStore, clock } = stores;
  const idle = makeIdleAudit(stores);
  const tiles = makeTileStore(makeMemoryReadModelStore());
  const projectOf = makeProjectOf({ eventStore, projectOfFirst: projectOfFirstEvent });
  const tree = makeTreeReader(tiles, () => undefined);
  const resources = makeLogResources({ eventStore, tree });
  const history = makeAuditHistory({ eventStore, resources, tree, tiles, projectOf });
  let signed: SignedRecord | null = null;
  return {
    ...{ ...idle, tree, resources },
    reader: makeAuditReader({ history, eventStore, projectOf, views: projections }),
    log: { status: idle.log.status, readSigned: () => Promise.resolve(signed) },
    sign: async () => {
      const logId = await eventStore.logId();
      await tiles.ensure();
      const accumulator = makeLogAccumulator(logId, null);
      for (let after: string | null = null; ;) {
        const page = await eventStore.readAll({ after, limit: 500 });
        for (const event of page.events) accumulator.add(event, await projectOf(event));
        after = page.cursor;
        if (page.atHead) break;
      }
      await tiles.writeTiles(accumulator.takeTiles());
      const { size, root, restart } = accumulator.log();
      const origin = originOf({ logId, restart });
      const text = checkpointText({ origin, size, root });
      signed = {
        ...{ origin, former_origins: [], size, root: root.toString('base64') },
        note: noteOf(text, [makeNoteSigner(origin, auditSeed).sign(text)]),
        ...{ signed_at: clock.now().toISOString(), cosignatures: {} },
      };
      return signed;
    },
  };
}
