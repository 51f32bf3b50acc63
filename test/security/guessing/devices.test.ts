import test from 'ava';
import { makeDevices } from '../../../src/security/guessing/devices.js';
import { userId } from '../../support/examples/ids.js';
import { makeTestClock } from '../../support/fakes/clock.js';
import { makeMemoryStateStore } from '../../support/fakes/memory-state-store.js';

test('A session after a clock was set back is noted, so that an unproved account ends when its days are over', async (t) => {
  const clock = makeTestClock();
  const onFailure = (_: string, error: unknown) => t.fail(String(error));
  const devices = makeDevices({ stateStore: makeMemoryStateStore({ clock }), clock, onFailure });
  // Given a session that began while the clock was a year ahead
  clock.set(365 * 86_400_000);
  await devices.noteSession(userId);
  clock.set(-365 * 86_400_000);
  // When it is refreshed after the clock was set right
  await devices.noteSession(userId);
  t.deepEqual(await devices.lastSessionAt(userId), clock.now());
});
