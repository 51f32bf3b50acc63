import test from 'ava';

import { type SignedRecord, signedRecord } from '../../../../src/areas/audit/signing/audit-records.js';
import { rootOf } from '../../../../src/areas/audit/tree/merkle.js';
import { makeSigner } from '../../../../src/areas/audit/signing/signer.js';
import type { StoredLog } from '../../../../src/areas/audit/signing/sequencer.js';
import { auditSeed, makeFastClock } from '../../../support/audit/audit-scene.js';
import { makeMemoryStateStore } from '../../../support/fakes/memory-state-store.js';

test('A process that compared with an older record does not replace the checkpoint that another process signed since', async (t) => {
  // Given a signed log of 10 events that grows to 20
  let clockMs = Date.parse('2026-01-02T03:04:05.000Z');
  const clock = { now: () => new Date(clockMs), steadyMs: () => clockMs };
  const stateStore = makeMemoryStateStore({ clock: makeFastClock(1) });
  const log: StoredLog = {
    ...{ logId: 'log-1', restart: null, root: rootOf([]), size: 10, atHead: true },
    time: new Date(clockMs),
  };
  let [stored, compared]: [StoredLog, () => Promise<void>] = [log, () => Promise.resolve()];
  const signer = makeSigner({
    stateStore,
    tree: {
      rootAt: async () => {
        await compared();
        return rootOf([]);
      },
    },
    stored: () => stored,
    seeds: () => [auditSeed],
    pages: { check: () => Promise.resolve({ hashes: [], problem: null }) },
    folders: [],
    shortLog: { whole: () => undefined, isLasting: () => true },
    clock,
  });
  const others = { checked: new Map(), problem: null, maySign: true };
  t.is((await signer.pass(others))?.signed?.size, 10);
  // When another process signs 25 events while this one compares the root of 10
  compared = async () => {
    const record = await stateStore.get(signedRecord.key);
    const next: SignedRecord = { ...(record?.value as SignedRecord), size: 25 };
    await stateStore.compareAndSet(signedRecord.key, record?.version ?? null, next);
    compared = () => Promise.resolve();
  };
  stored = { ...log, size: 20 };
  clockMs += 10_000;
  const signing = await signer.pass(others);
  // Then this process has signed nothing
  t.is(signing?.signed?.size, 10);
  t.like((await stateStore.get(signedRecord.key))?.value, { size: 25 });
});
