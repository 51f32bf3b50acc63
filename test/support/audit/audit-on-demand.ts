import { projectOfFirstEvent } from '../../../projections/audit/fold-views.js';
import { makeAuditReader } from '../../../projections/audit/reader.js';
import { projections } from '../../../projections/index.js';
import { originOf, type SignedRecord } from '../../../src/areas/audit/signing/audit-records.js';
import { makeAuditHistory } from '../../../src/areas/audit/history/history.js';
import { makeLogAccumulator } from '../../../src/areas/audit/tree/log-accumulator.js';
import { makeLogResources } from '../../../src/areas/audit/history/log-resources.js';
import { checkpointText, makeNoteSigner, noteOf } from '../../../src/areas/audit/tree/note.js';
import { makeProjectOf } from '../../../src/areas/audit/history/project-of.js';
import { makeTileStore } from '../../../src/areas/audit/tree/tile-store.js';
import { makeTreeReader } from '../../../src/areas/audit/tree/tree-reader.js';
import { makeMemoryReadModelStore } from '../fakes/memory-read-model-store.js';
import { auditSeed } from './audit-scene.js';
import { makeIdleAudit, type TestAudit } from './audit-source.js';

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
