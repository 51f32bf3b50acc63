/*
 * Tampers with exports of the audit log at random, and holds the verdict of the verifier against the place that was
 * tampered with. Each tampering has a seed of its own, which a failure prints.
 */
import test from 'ava';
import { verifyExport } from '../../src/audit/verify/verify.js';
import { bytesOf } from '../support/audit/altered-export.js';
import { exportFilesOf, givenAuditEvents, givenLogKey, memorySource } from '../support/audit/audit-export.js';
import { givenTamperBase, type TamperBase, tamperings } from '../support/audit/tamperings.js';
import { makeSeededRandom } from '../support/fakes/clock.js';

/* DEEP_SEED=<printed> replays a run. DEEP_BUDGET multiplies the number of tamperings: 34 makes 100,000. */
const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);
const budget = Number(process.env['DEEP_BUDGET'] ?? 1);
const keys = givenLogKey().vkey;

/** Sizes at the widths of tiles, and others. */
const sizes = [1, 2, 3, 100, 255, 256, 257, 300, 511, 512, 513, 600, 700, 768];

function givenBases(): readonly TamperBase[] {
  const random = makeSeededRandom(seed);
  return sizes.map((size) => givenTamperBase(random, givenAuditEvents(random, size)));
}

test('Each of 3,000 tamperings is found, at its event where tiles or a kept export allow, else where it contradicts', async (t) => {
  t.timeout(60 * 60_000 * Math.max(1, budget));
  t.log(`DEEP_SEED=${seed}`);
  const bases = givenBases();
  const kinds = [...tamperings];
  const counts = new Map(kinds.map(([name]) => [name, 0]));
  const total = Math.round(3000 * budget);
  for (let done = 0, attempt = 0; done < total; attempt += 1) {
    const random = makeSeededRandom(seed * 1_000_003 + attempt);
    // Given a tampered export
    const [name, tamper] = kinds[attempt % kinds.length] ?? kinds[0] ?? ['', () => null];
    const base = bases[Math.floor(random() * bases.length)];
    const tampered = base === undefined ? null : tamper(base, random);
    if (base === undefined || tampered === null) continue;
    // When the verifier reads it
    const verdict = await verifyExport(memorySource(tampered.files), { keys, ...tampered.options });
    // Then it finds the tampering, at the right place
    const complaint = verdict.problems === 0 ? 'it was not found' : tampered.complaint(verdict);
    if (complaint !== null) {
      t.fail(
        `attempt ${attempt}, ${name}, ${base.events.length} events: ${complaint}: ${JSON.stringify(verdict.places.slice(0, 5))}`,
      );
      return;
    }
    counts.set(name, (counts.get(name) ?? 0) + 1);
    done += 1;
  }
  for (const [name, count] of counts) t.true(count >= (total / kinds.length) * 0.3, `${name}: ${count}`);
  t.log([...counts].map(([name, count]) => `${name}: ${count}`).join('\n'));
});

test('No tampering is found in 1,000 intact exports of random sizes, with and without what was kept', async (t) => {
  t.timeout(60 * 60_000);
  t.log(`DEEP_SEED=${seed}`);
  for (let round = 0; round < 1000; round += 1) {
    const random = makeSeededRandom(seed * 999_983 + round);
    const events = givenAuditEvents(random, Math.floor(random() ** 2 * 800));
    const keptSize = Math.floor(random() * (events.length + 1));
    const older = exportFilesOf(events.slice(0, keptSize));
    const checkpoint = bytesOf(older, 'checkpoint');
    const kept = [[], [{ checkpoint }], [{ checkpoint, source: memorySource(older) }]][round % 3] ?? [];
    const verdict = await verifyExport(memorySource(exportFilesOf(events)), { keys, kept });
    if (verdict.problems > 0) t.fail(`round ${round}: ${JSON.stringify(verdict.places.slice(0, 5))}`);
    if (kept.length > 0 && verdict.agreed !== keptSize) t.fail(`round ${round}: the kept size is not agreed`);
  }
  t.pass();
});
