import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { startTestWitness } from '../support/audit/test-witness.js';
import { registerAuditor, makeServiceClient, textOf } from '../support/clients/service-client.js';
import { eventually as eventuallyAt } from '../support/eventually.js';
import {
  givenService,
  givenDirectory,
  keyEnvironment,
  freePort,
  runCli,
} from '../support/servers/service-process.js';
import { makeTestDatabase, mongoDbUrl } from '../support/servers/store-servers.js';

const password = 'Correct-Horse-7';
/** Asks rarely, because the requests of a session are limited. */
const eventually = (what: string, holds: () => boolean | Promise<boolean>): Promise<true> =>
  eventuallyAt(what, holds, { pollMs: 250, at: eventually });

interface Scene {
  /** Restored together, or the log alone. */
  readonly restored: 'log' | 'log and state';
  readonly kept: 'folder' | 'witness' | 'record';
  readonly state: 'embedded' | 'MongoDB';
}

/** Where the state is, and how it is copied away and put back. */
interface StateCopy {
  readonly environment: Readonly<Record<string, string>>;
  readonly keep: () => Promise<void>;
  readonly putBack: () => Promise<void>;
  /** The views are then built again from the log. */
  readonly dropViews: () => Promise<void>;
}

const nothing = (): Promise<void> => Promise.resolve();

async function givenState(t: ExecutionContext, kind: Scene['state']): Promise<StateCopy> {
  if (kind === 'embedded') return { environment: {}, keep: nothing, putBack: nothing, dropViews: nothing };
  const { url, name, client } = await makeTestDatabase(t);
  const database = client.db(name);
  const state = database.collection('state');
  let kept: object[] = [];
  return {
    environment: { ...keyEnvironment, MONGODB_URL: url },
    keep: async () => {
      kept = await state.find().toArray();
    },
    putBack: async () => {
      await state.deleteMany({});
      await state.insertMany(kept);
    },
    dropViews: async () => {
      for (const { collectionName } of await database.collections()) {
        if (collectionName !== 'state') await database.collection(collectionName).drop();
      }
    },
  };
}

/** Backups by the command, or as copies of the files of a stopped service. */
function makeBackups(
  t: ExecutionContext,
  options: {
    readonly directory: string;
    readonly copy: string;
    readonly environment: Readonly<Record<string, string>>;
    readonly state: StateCopy;
    readonly byCommand: boolean;
  },
) {
  const { directory, copy, environment, state, byCommand } = options;
  const run = async (target: string, ...args: string[]): Promise<void> => {
    const { code, stderr } = await runCli(target, args, environment);
    t.is(code, 0, stderr);
  };
  return {
    takeFromRunning: () => (byCommand ? run(directory, 'backup', copy) : nothing()),
    takeFromStopped: async () => {
      if (byCommand) return;
      mkdirSync(copy);
      cpSync(join(directory, 'events.db'), join(copy, 'events.db'));
      await state.keep();
    },
    /** Returns the data directory. */
    restore: async (restored: Scene['restored']): Promise<string> => {
      const target = `${directory}-restored`;
      if (byCommand) {
        await run(target, 'restore', copy);
        return target;
      }
      for (const name of readdirSync(directory)) {
        if (/^(read-models|events)\.db/.test(name)) rmSync(join(directory, name));
      }
      cpSync(join(copy, 'events.db'), join(directory, 'events.db'));
      // The operator accepts the loss, as the refused start says.
      writeFileSync(join(directory, 'events.db.mark'), '');
      await state.dropViews();
      if (restored === 'log and state') await state.putBack();
      return directory;
    },
  };
}

async function runScene(t: ExecutionContext, { restored, kept, state: kind }: Scene): Promise<void> {
  // Given a service whose log is signed, with an auditor
  const data = givenDirectory(t);
  const state = await givenState(t, kind);
  const byCommand = kind === 'embedded' && restored === 'log and state';
  const [directory, copy] = [join(data, 'data'), join(data, 'copy')];
  const folder = join(data, 'checkpoints');
  const vkeys: string[] = [];
  const witness = await startTestWitness(vkeys);
  t.teardown(() => witness.close());
  writeFileSync(join(data, 'witnesses'), `${witness.vkey} ${witness.url}\n`);
  const metricsPort = await freePort();
  const environment = {
    ...state.environment,
    METRICS_PORT: String(metricsPort),
    ...(kept === 'folder' ? { AUDIT_CHECKPOINT_DIR: folder } : {}),
    ...(kept === 'witness' ? { AUDIT_WITNESSES: join(data, 'witnesses') } : {}),
  };
  const port = await freePort();
  const start = (from = directory) => givenService(t, { directory: from, port, environment });
  const first = await start();
  const client = makeServiceClient(first.url);
  const { headers } = await registerAuditor(client, directory);
  const key = await runCli(directory, ['--json', 'audit', 'key'], environment);
  vkeys.push(...(JSON.parse(key.stdout) as { vkeys: string[] }).vkeys);
  const origin = (vkeys[0] ?? '').split('+')[0] ?? '';
  const status = async (): Promise<JsonObject> => {
    const reply = await client.get('/audit/status', headers);
    t.is(reply.status, 200, reply.text);
    return reply.json();
  };
  const signed = async (more: number): Promise<number> => {
    let size = 0;
    await eventually('everything is signed, and kept', async () => {
      const now = await status();
      size = Number(now['signed_size']);
      const isKept = kept !== 'witness' || witness.sizeOf(origin) === size;
      return Number(now['size']) > more && now['size'] === size && isKept;
    });
    return size;
  };
  const before = await signed(0);
  // and a backup from before some events
  const backup = makeBackups(t, { directory, copy, environment, state, byCommand });
  await backup.takeFromRunning();
  await first.stop();
  await backup.takeFromStopped();
  const second = await start();
  await client.register('ben@example.org', password);
  await client.register('cleo@example.org', password);
  const size = await signed(before);
  await second.stop();
  // When it is restored, and the service starts
  const target = await backup.restore(restored);
  const stale = await start(target);
  const readyAt = Date.now();
  // Then it serves, with new events
  const late = await client.register('dave@example.org', password);
  const created = await client.post('/api/v1/projects', { name: 'Film' }, late.headers);
  t.is(created.status, 201, created.text);
  // and reports the contradiction
  await eventually('the contradiction is reported', async () => (await status())['contradiction'] !== null);
  const contradiction = (await status())['contradiction'] as JsonObject;
  const found = (Date.parse(textOf(contradiction, 'found_at')) - readyAt) / 1_000;
  t.log(`${found.toFixed(1)} s after the service was ready: ${textOf(contradiction, 'what')}`);
  t.regex(textOf(contradiction, 'what'), new RegExp(String(size)));
  await eventually('the metric shows it', async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    return /^stowage_audit_contradiction 1$/m.test(metrics);
  });
  await eventually('the log names it', () => stale.output().includes('contradicts what was signed'));
  // and it has signed nothing since, and signs nothing
  const last = restored === 'log' ? size : before;
  const isUnsigned = async (): Promise<boolean> => Number((await status())['signed_size']) === last;
  t.true(await isUnsigned());
  await client.register('eve@example.org', password);
  await new Promise((resolve) => setTimeout(resolve, 12_000));
  t.true(await isUnsigned());
  t.is(kept === 'witness' ? witness.sizeOf(origin) : size, size);
  t.is(kept === 'folder' ? newestIn(folder) : size, size);
  t.is((await client.get('/api/v1/auth/me', late.headers)).status, 200);
}

/** Returns the size of the newest checkpoint in a folder. */
function newestIn(folder: string): number {
  const names = readdirSync(folder, { recursive: true }).map(String);
  return Math.max(...names.map((name) => Number(name.split('/').at(-1))).filter(Number.isInteger));
}

/** DEEP_BUDGET=1 has every scene with each state; without it each way to keep what was signed has one state. */
const isWhole = Number(process.env['DEEP_BUDGET'] ?? 0) >= 1;
const few: readonly Scene[] = [
  { restored: 'log', kept: 'record', state: 'embedded' },
  { restored: 'log and state', kept: 'witness', state: 'embedded' },
  { restored: 'log and state', kept: 'folder', state: 'MongoDB' },
];
const more: readonly Scene[] = [
  { restored: 'log and state', kept: 'folder', state: 'embedded' },
  { restored: 'log', kept: 'record', state: 'MongoDB' },
  { restored: 'log and state', kept: 'witness', state: 'MongoDB' },
];
const scenes = [...few, ...(isWhole ? more : [])].filter(
  ({ state }) => state === 'embedded' || mongoDbUrl !== undefined,
);
// They run side by side: each has its directory, database and witness, and mostly waits for checkpoints.
for (const scene of scenes) {
  const { restored, kept, state } = scene;
  const isOf =
    restored === 'log' ? 'a restored older log' : 'an older log and state that were restored together';
  test(`With its state in ${state}, the service signs nothing on ${isOf}, and reports it through the ${kept}`, (t) =>
    runScene(t, scene));
}

if (mongoDbUrl === undefined) {
  // eslint-disable-next-line ava/no-skip-test, ava/require-assertion -- the output names what did not run, and why
  test.skip('The restored states in MongoDB run when MONGODB_URL names a server', () => undefined);
}
