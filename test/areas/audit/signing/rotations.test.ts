import test from 'ava';

import { servedNote } from '../../../../src/areas/audit/signing/audit-records.js';
import { makeNoteSigner } from '../../../../src/areas/audit/tree/note.js';
import { givenAuditStores, readWholeLog } from '../../../support/audit/audit-scene.js';
import { isSignedWith, startPollingAuditor } from '../../../support/audit/polling-auditor.js';
import { eventually } from '../../../support/eventually.js';
import { givenKeyRotation } from '../../../support/given/given-key-rotation.js';
import { origin } from '../../../support/given/audit-signing.js';

const [minuteMs, dayMs] = [60_000, 86_400_000];

test('While audit keys are rotated, each checkpoint verifies under the newest key that an auditor has', async (t) => {
  // Given a log that grows, and an auditor who polls
  const { rotation, keyRings, clock: keyClock } = givenKeyRotation(t);
  const { append, start, eventStore, random } = givenAuditStores(20, 500);
  const process = start({ seeds: () => keyRings.audit.all().map(({ key }) => key) });
  t.teardown(() => process.stop());
  const vkeyOf = (kid: string): string =>
    makeNoteSigner(origin, keyRings.audit.find(kid) ?? Buffer.alloc(0)).vkey;
  const read = async (): Promise<string | null> => {
    const record = await process.audit.readSigned();
    return record === null ? null : servedNote(record);
  };
  const auditor = startPollingAuditor(read, vkeyOf(keyRings.audit.active().kid), 1);
  await append(5);
  t.teardown(() => auditor.stop());
  await eventually('a checkpoint', () => auditor.last() !== null);

  // `test/deep` rotates those of a real service twenty times.
  for (let turn = 0; turn < 6; turn += 1) {
    // When a key is added, the auditor gets it, and the old one is retired without force
    const old = keyRings.audit.active().kid;
    const { kid } = rotation.add('audit');
    await append(Math.floor(random() * 3));
    await eventually('a signature of the new key', () => isSignedWith(auditor.last(), vkeyOf(kid)), {
      pollMs: 1,
    });
    auditor.tell(vkeyOf(kid));
    keyClock.advance(30 * dayMs + minuteMs);
    rotation.promote('audit', kid, { now: false });
    t.true((await rotation.retire('audit', old, { force: false })).changed);
    await append(Math.floor(random() * 3));
  }

  // Then the auditor has verified each checkpoint, and the last one has no signature of a retired key
  await append(5);
  const { length: size } = await readWholeLog(eventStore);
  await eventually('the last checkpoint', () => auditor.last()?.split('\n')[1] === String(size));
  const last = auditor.last() ?? '';
  const { problems, sizes } = await auditor.stop();
  t.deepEqual(problems, []);
  t.true(sizes.length > 3, `${sizes.length} checkpoints`);
  t.is(last.split('\n').filter((line) => line.startsWith('— ')).length, 1);
});
