import test from 'ava';
import { raceForKey } from './object-key-races.js';

/* DEEP_SEED=<printed> replays a run; DEEP_BUDGET multiplies the races. */
const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);
const races = Math.ceil(1_000 * Math.max(0.01, Number(process.env['DEEP_BUDGET'] ?? 1)));

test('Two clients and two processes race for a key, also against its deletion, and no live asset loses its file', async (t) => {
  t.timeout(3_600_000);
  t.log(`DEEP_SEED=${seed}`);
  const tally = new Map<string, number>();
  for (let n = 0; n < races; n += 1) {
    const problem = await raceForKey(seed + n, tally);
    if (problem !== null) return t.fail(`${problem}: repeat with DEEP_SEED=${seed + n}`);
  }
  t.log(JSON.stringify(Object.fromEntries(tally)));
  for (const part of ['taken', 'kept', 'object_key_taken', 'skipped'])
    t.true((tally.get(part) ?? 0) > 0, part);
  return undefined;
});
