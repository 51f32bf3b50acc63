import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { sealedSchema } from '../../src/event-sourcing/ports/events.js';
import { readKeyFile } from '../../src/keys/rings/key-file.js';
import { kidsIn } from '../../src/keys/rings/key-changes.js';
import { type RingName, ringNames } from '../../src/keys/rings/key-file-format.js';
import { loadKeys } from '../../src/keys/rings/key-rings.js';
import { makeSealer } from '../../src/keys/sealing/sealer.js';
import { makeSeededRandom, realClock } from '../support/fakes/clock.js';
import { givenDirectory, openStores } from '../support/servers/embedded-directory.js';
import { runCli } from '../support/servers/service-process.js';

const seed = Number(process.env['DEEP_SEED'] ?? 1);
const kills = Math.ceil(60 * Number(process.env['DEEP_BUDGET'] ?? 1));
const killsPerDirectory = 15;
/**
 * The largest number of acknowledged rotation steps before a kill. Counting them makes the test independent of the
 * speed.
 */
const stepsMax = 16;
const sealedMin = 2;

const rotator = fileURLToPath(new URL('../support/servers/key-rotator.js', import.meta.url));

/** The acknowledged steps of the killed process. */
interface Acknowledged {
  readonly sealed: (readonly [userId: string, sealed: string])[];
  /** The last promoted key and the last added key, by ring. */
  readonly promoted: Map<string, string>;
  readonly added: Map<string, string>;
}

test(`A kill -9 at ${kills} random moments of a rotation leaves a readable key file, and every secret opens`, async (t) => {
  t.timeout(600_000);
  t.log(`DEEP_SEED=${seed}`);
  const random = makeSeededRandom(seed);
  const seen = { secrets: 0, leftovers: 0, promotions: 0 };
  for (let done = 0; done < kills; done += killsPerDirectory) {
    const directory = givenDirectory(t);
    const secrets: (readonly [string, string])[] = [];
    for (let kill = done; kill < Math.min(done + killsPerDirectory, kills); kill += 1) {
      // Each process starts later by more than the time that the previous clock may have advanced.
      const startAt = new Date(Date.UTC(2100, 0, 1) + kill * 40_000 * 86_400_000);
      const acknowledged = await rotateAndKill(directory, { name: String(kill), startAt, random });
      secrets.push(...acknowledged.sealed);
      seen.leftovers += readdirSync(directory).filter((file) => /^keys\.json\..*\.tmp$/.test(file)).length;
      seen.promotions += acknowledged.promoted.size;
      checkKeyFile(t, directory, acknowledged);
      await checkSecrets(t, directory, secrets);
    }
    seen.secrets += secrets.length;
    // Then the commands continue normally and clean up
    const rewrapped = await runCli(directory, ['keys', 'rewrap', '--json']);
    t.is(rewrapped.code, 0, rewrapped.stderr);
    t.is(Object.keys((JSON.parse(rewrapped.stdout) as { data_keys: object }).data_keys).length, 1);
    t.deepEqual(
      readdirSync(directory).filter((file) => file.startsWith('keys.json')),
      ['keys.json'],
    );
    await checkSecrets(t, directory, secrets);
  }
  t.log(seen);
  t.true(seen.secrets >= kills * sealedMin && seen.promotions >= kills);
});

async function rotateAndKill(
  directory: string,
  { name, startAt, random }: { readonly name: string; readonly startAt: Date; readonly random: () => number },
): Promise<Acknowledged> {
  const child = spawn(process.execPath, [rotator, directory, name, startAt.toISOString()], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const acknowledged: Acknowledged = { sealed: [], promoted: new Map(), added: new Map() };
  const onReport = killAfterReports(child, random);
  for await (const line of createInterface({ input: child.stdout })) {
    const [what = '', subject = '', value = ''] = line.split(' ');
    if (what === 'sealed' && sealedSchema.safeParse(value).success)
      acknowledged.sealed.push([subject, value]);
    if (what === 'added') acknowledged.added.set(subject, value);
    if (what === 'promoted') acknowledged.promoted.set(subject, value);
    onReport(what);
  }
  const [, signal] = (await exited) as [number | null, string | null];
  if (signal !== 'SIGKILL') throw new Error('the process ended by itself');
  return acknowledged;
}

/**
 * Kills the process a moment after it has reported its steps and some secrets; the moment is a part of the time of a
 * step. A step is an added or promoted key, and two steps include a promotion.
 * @returns the function that receives the first word of each line
 */
function killAfterReports(child: ChildProcess, random: () => number): (what: string) => void {
  const [steps, moment] = [2 + Math.floor(random() * (stepsMax - 1)), random()];
  const left = { steps, sealed: sealedMin };
  let beganMs = 0;
  let isKilled = false;
  return (what) => {
    if (what === 'ready') beganMs = performance.now();
    if (what === 'sealed') left.sealed -= 1;
    if (what === 'added' || what === 'promoted') left.steps -= 1;
    if (isKilled || left.steps > 0 || left.sealed > 0) return;
    isKilled = true;
    const stepMs = (performance.now() - beganMs) / steps;
    void delay(moment * stepMs).then(() => child.kill('SIGKILL'));
  };
}

/**
 * Asserts that the file contains the acknowledged keys: a promoted key is active, or was active when the next one was
 * promoted.
 */
function checkKeyFile(t: ExecutionContext, directory: string, { added, promoted }: Acknowledged): void {
  const path = join(directory, 'keys.json');
  t.is(statSync(path).mode & 0o777, 0o600);
  const file = readKeyFile(path);
  if (file === null) return t.fail('the key file is gone');
  for (const ring of ringNames) {
    const [addedLast, promotedLast] = [added.get(ring), promoted.get(ring)];
    const kids = kidsIn(file, ring satisfies RingName);
    if (addedLast !== undefined) t.true(kids.includes(addedLast), `a key of ${ring} that was added is gone`);
    // One more key may have been promoted without an acknowledgement.
    if (promotedLast !== undefined) t.true(kids[0] === addedLast || kids[0] === promotedLast, ring);
  }
  return undefined;
}

async function checkSecrets(
  t: ExecutionContext,
  directory: string,
  secrets: readonly (readonly [string, string])[],
): Promise<void> {
  const keys = loadKeys({ settings: {}, keyFile: join(directory, 'keys.json') });
  const stores = await openStores(directory);
  try {
    const sealer = makeSealer({
      stateStore: stores.stateStore,
      masterKeys: keys.master,
      clock: realClock,
      randomBytes,
    });
    for (const [userId, sealed] of secrets) {
      const opened = await sealer.open({ kind: 'person', userId }, 'email', sealedSchema.parse(sealed));
      if (opened !== userId) t.fail(`a secret of ${userId} opens as another`);
    }
  } finally {
    await stores.close();
  }
}
