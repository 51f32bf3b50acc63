/*
 * Tampers with exports of the audit log at random, and holds the verdict of the verifier against the place that was
 * tampered with. A failure prints the number of the attempt, which gives its seed.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { bytesOf, withFiles, withForgedAmount } from '../support/audit/altered-export.js';
import {
  exportFilesOf,
  givenAuditEvents,
  givenLogKey,
  verifyInMemory,
  writeExport,
} from '../support/audit/audit-export.js';
import { givenTamperBase, type TamperBase, tamperings } from '../support/audit/tamperings.js';
import { packageFile } from '../../src/package-files.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { givenDirectory } from '../support/directories.js';

/* DEEP_SEED=<printed> replays a run. A DEEP_BUDGET above 1 multiplies the tamperings: 34 makes 100,000. */
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
  const total = Math.round(3000 * Math.max(1, budget));
  for (let done = 0, attempt = 0; done < total; attempt += 1) {
    const random = makeSeededRandom(seed * 1_000_003 + attempt);
    // Given a tampered export
    const [name, tamper] = kinds[attempt % kinds.length] ?? kinds[0] ?? ['', () => null];
    // Small exports cost less, and have the same edges.
    const base = bases[Math.floor(random() ** 2 * bases.length)];
    const tampered = base === undefined ? null : tamper(base, random);
    if (base === undefined || tampered === null) continue;
    // When the verifier reads it
    const verdict = await verifyInMemory(tampered.files, tampered.given);
    // Then it finds the tampering, at the right place
    const complaint = verdict.isVerified ? 'it was not found' : tampered.complaint(verdict);
    if (complaint !== null) {
      t.fail(
        `attempt ${attempt}, ${name}, ${base.events.length} events: ${complaint}: ${JSON.stringify(verdict.places.slice(0, 5))}`,
      );
      return;
    }
    counts.set(name, (counts.get(name) ?? 0) + 1);
    done += 1;
    if (done % 3000 === 0) console.error(`${done} of ${total} tamperings are found`);
  }
  // Some kinds need two tiles, which a third of the bases have.
  const least = (total / kinds.length) * 0.2;
  for (const [name, count] of counts) t.true(count >= least, `${name}: ${count}`);
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
    const alone = new Map([['checkpoint', bytesOf(older, 'checkpoint')]]);
    const kept = [{}, { kept: alone }, { kept: older }][round % 3];
    const verdict = await verifyInMemory(exportFilesOf(events), kept);
    if (!verdict.isVerified) t.fail(`round ${round}: ${verdict.text}`);
  }
  t.pass();
});

test('In a tree of three levels each tile that is forged or altered is the place', async (t) => {
  t.timeout(60 * 60_000);
  t.log(`DEEP_SEED=${seed}`);
  // Given a log of one full tile of level 1, and a forged event in it
  const random = makeSeededRandom(seed);
  const events = givenAuditEvents(random, 70_000);
  const files = exportFilesOf(events);
  const index = Math.floor(random() * 65_536);
  const other = exportFilesOf(withForgedAmount(events, index));
  const changed = [...other.keys()].filter(
    (path) => path !== 'checkpoint' && !files.get(path)?.equals(bytesOf(other, path)),
  );
  const verdictOf = (paths: readonly string[]) =>
    verifyInMemory(withFiles(files, Object.fromEntries(paths.map((path) => [path, bytesOf(other, path)]))));
  t.true((await verdictOf([])).isVerified);
  const [lines = '', entries = ''] = ['events/', 'tile/entries/'].map((kind) =>
    changed.find((path) => path.startsWith(kind)),
  );
  const tiles = ['tile/0/', 'tile/1/', 'tile/2/'].map(
    (kind) => changed.find((path) => path.startsWith(kind)) ?? '',
  );
  t.is(changed.length, 5);
  // When the levels are forged one after the other
  for (const [level, highest] of tiles.entries()) {
    const { places } = await verdictOf([lines, entries, ...tiles.slice(0, level + 1)]);
    // Then the place is the highest of them
    t.true(
      places.length > 0 && places.every(({ path, what }) => path === highest || what.includes(highest)),
      JSON.stringify(places),
    );
  }
  // And the event where the tiles are the log's
  t.deepEqual(
    (await verdictOf([lines])).places.map(({ first, last }) => [first, last]),
    [[index, index]],
  );
  // And an altered tile above is the place, alone or with its neighbours
  for (const highest of tiles.slice(1)) {
    const { places } = await verdictOf([highest]);
    t.true(
      places.length > 0 && places.every(({ path, what }) => path === highest || what.includes(highest)),
      JSON.stringify(places),
    );
  }
});

test('The program ends with 1 on tampered exports in folders, and with 0 on intact ones', async (t) => {
  t.timeout(20 * 60_000);
  t.log(`DEEP_SEED=${seed}`);
  const program = fileURLToPath(packageFile('dist/verify.js'));
  const root = givenDirectory(t);
  const key = join(root, 'log.vkey');
  writeFileSync(key, `${keys}\n`);
  const verify = (folder: string): Promise<{ readonly code: unknown; readonly text: string }> =>
    new Promise((done) => {
      execFile(process.execPath, [program, folder, '--key', key], (error, stdout, stderr) => {
        done({ code: error === null ? 0 : error.code, text: `${stdout}${stderr}` });
      });
    });
  const bases = givenBases();
  const kinds = [...tamperings].filter(([name]) => !name.startsWith('a fork'));
  for (const [at, [name, tamper]] of kinds.entries()) {
    const random = makeSeededRandom(seed * 7919 + at);
    const base = bases[Math.floor(random() * bases.length)];
    const tampered = base === undefined ? null : tamper(base, random);
    if (base === undefined || tampered === null) continue;
    const [good, bad] = [join(root, `${at}-intact`), join(root, `${at}-tampered`)];
    writeExport(good, base.files);
    writeExport(bad, tampered.files);
    const [first, second] = [await verify(good), await verify(bad)];
    t.is(first.code, 0, `${name}: ${first.text}`);
    t.is(second.code, 1, `${name}: ${second.text}`);
    t.regex(second.text, /^NOT VERIFIED: /m);
  }
});
