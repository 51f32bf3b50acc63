import test from 'ava';
import { deviceMs, devicesMax, makeDevices } from '../../../src/security/guessing/devices.js';
import { makeTestClock } from '../../support/fakes/clock.js';
import { makeMemoryStateStore } from '../../support/fakes/memory-state-store.js';

const of = { userId: 'ada', epoch: 0 };

function given() {
  const clock = makeTestClock();
  const onFailure = (what: string): never => {
    throw new Error(what);
  };
  const devices = makeDevices({ stateStore: makeMemoryStateStore({ clock }), clock, onFailure });
  return { clock, devices };
}

test('A seventeenth device takes the place of the oldest one that never came back', async (t) => {
  // Given an old device that came back, and devices that did not
  const { clock, devices } = given();
  await devices.remember(of, 'old', true);
  for (let n = 1; n < devicesMax; n += 1) {
    clock.advance(1_000);
    await devices.remember(of, `d${n}`, false);
  }
  // When another one signs in
  clock.advance(1_000);
  await devices.remember(of, 'new', false);
  // Then the oldest that never came back is forgotten
  t.false(await devices.isKnown(of, 'd1'));
  for (const id of ['old', 'd2', `d${devicesMax - 1}`, 'new']) t.true(await devices.isKnown(of, id), id);
});

test('A device is known for 90 days after its last sign-in', async (t) => {
  const { clock, devices } = given();
  await devices.remember(of, 'laptop', false);
  clock.advance(deviceMs - 1);
  t.true(await devices.isKnown(of, 'laptop'));
  await devices.remember(of, 'laptop', true);
  clock.advance(deviceMs - 1);
  t.true(await devices.isKnown(of, 'laptop'));
  clock.advance(1);
  t.false(await devices.isKnown(of, 'laptop'));
});
