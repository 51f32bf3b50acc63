import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { CountPasswords } from '../../../src/areas/shares/commands/count-passwords.js';
import type { RingName } from '../../../src/keys/rings/key-file-format.js';
import {
  type KeySettings,
  ensureKeyFile,
  loadKeys,
  makeKeyRings,
} from '../../../src/keys/rings/key-rings.js';
import { makeKeyRotation } from '../../../src/keys/rings/key-rotation.js';
import { makeSealer } from '../../../src/keys/sealing/sealer.js';
import { makeTestClock } from '../fakes/clock.js';
import { makeMemoryStateStore } from '../fakes/memory-state-store.js';
import { givenDirectory } from '../directories.js';

/** Makes the parts of a process that owns a data directory: its key file, live rings, and the operators' rotation. */
export function givenKeyRotation(
  t: ExecutionContext,
  settings: KeySettings = {},
  countPasswords: CountPasswords = () => Promise.resolve({ users: 0, shares: 0, someShares: [] }),
) {
  const directory = givenDirectory(t);
  const keyFile = join(directory, 'keys.json');
  ensureKeyFile({ path: keyFile, settings, hasData: false, randomBytes });
  const clock = makeTestClock();
  const stateStore = makeMemoryStateStore({ clock });
  const problems: string[] = [];
  const changes: string[] = [];
  /** Opens the rings of this process, or of another one that reads the same file. */
  const openRings = () =>
    makeKeyRings({
      load: () => loadKeys({ settings, keyFile }),
      clock,
      onProblem: (problem) => problems.push(problem),
    });
  const keyRings = openRings();
  const sealer = makeSealer({ stateStore, masterKeys: keyRings.master, clock, randomBytes });
  const rotation = makeKeyRotation({
    keyRings,
    keyFile,
    settings: () => settings,
    sealer,
    countPasswords,
    clock,
    randomBytes,
    onChange: (...change) => changes.push(change.join(' ')),
  });

  /** Adds a key and promotes it as soon as that is allowed. Returns its id and the id of the previous key. */
  function rotate(ring: RingName): { readonly from: string; readonly to: string } {
    const from = keyRings[ring].active().kid;
    rotation.add(ring);
    clock.advance(60_000);
    return { from, to: rotation.promote(ring, null, { now: false }).kid };
  }

  return { keyFile, clock, stateStore, keyRings, openRings, sealer, rotation, rotate, problems, changes };
}
