import type { AuditHistorySource } from '../../../src/areas/audit/routes/audit-events.js';
import type { AuditSource } from '../../../src/areas/audit/routes/audit-log.js';
import { makeAuditLog } from '../../../src/areas/audit/signing/audit-log.js';
import { makeAuditHistory } from '../../../src/areas/audit/history/history.js';
import { makeLogResources } from '../../../src/areas/audit/history/log-resources.js';
import { makeNoteSigner } from '../../../src/areas/audit/tree/note.js';
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
