import { chmod, cp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { isExplained } from '../../src/cli/exit-codes.js';
import { listRecords, putRecord } from '../../src/event-sourcing/ports/records.js';
import { makeEvents } from '../contracts/event-store-fixtures.js';
import { openDocuments, openLog } from '../support/servers/embedded-directory.js';
import { refusalOfStart, startInProcess } from '../support/servers/service-in-process.js';
import {
  keyEnvironment,
  type Environment,
  freePort,
  makeDataDirectory,
  runCli,
  type ServiceProcess,
  spawnService,
  givenDirectory,
} from '../support/servers/service-process.js';
import { makeUnwritableDirectory } from '../support/servers/unwritable-directory.js';

/** A start that must fail. */
interface Stop {
  /** Changes the data directory, which holds a small log, its views and keys. Without it the directory is empty. */
  readonly given?: (t: ExecutionContext, directory: string) => Promise<unknown>;
  readonly environment?: Environment;
  /** The words that the sentences must contain: the problem, and the remedy. */
  readonly says: readonly RegExp[];
}

const files = ['events.db', 'read-models.db', 'state.db', 'keys.json'];
const template = makeDataDirectory();
const empty = makeDataDirectory();
let unreachable: Promise<unknown>;

test.before(async () => {
  unreachable = startWithoutMongoDb();
  await fill((await template).path);
});

test.after.always(async () => {
  for (const directory of [await template, await empty]) await directory.remove();
});

/** Starts that fail while the stores and the keys are opened. The tests see the error that the start throws. */
const refusals: Readonly<Record<string, Stop>> = {
  'a log whose header is damaged': {
    given: (_, directory) => overwrite(directory, 'events.db', () => 0, 0xff),
    says: [/events\.db is damaged/, /restore events\.db from a backup/],
  },
  'a log that has lost its last events': {
    given: (_, directory) => writeFile(join(directory, 'events.db.mark'), '0000000000000009 dbdcd3c0'),
    says: [/events\.db is damaged: it ends at 1 and had reached 9/, /restore events\.db from a backup/],
  },
  'no keys.json beside data': {
    given: (_, directory) => rm(join(directory, 'keys.json')),
    says: [/keys\.json is missing/, /restore it from a backup/],
  },
  'a damaged keys.json': {
    given: (_, directory) => writeFile(join(directory, 'keys.json'), '{"format": 1, "rings"'),
    says: [/keys\.json is not JSON/, /restore it from a backup/],
  },
  'a keys.json that others can read': {
    given: (_, directory) => chmod(join(directory, 'keys.json'), 0o644),
    says: [/can be read or changed by others/, /chmod 600/],
  },
  'MongoDB without keys': {
    environment: { MONGODB_URL: 'mongodb://127.0.0.1:1/stowage' },
    says: [/not set: JWT_KEYS, .*INDEX_KEY/, /node -p/],
  },
  'EventStoreDB without keys': {
    environment: { EVENTSTOREDB_URL: 'esdb://127.0.0.1:1?tls=false' },
    says: [/not set: JWT_KEYS, .*INDEX_KEY/, /node -p/],
  },
  'a configuration with several problems': {
    environment: {
      PORT: '99999',
      PUBLIC_URL: 'ftp://example.org',
      LOG_LEVEL: 'loud',
      TRUSTED_PROXIES: 'all',
    },
    says: [/PORT must/, /PUBLIC_URL must/, /LOG_LEVEL must be fatal, error/, /TRUSTED_PROXIES must/],
  },
  'a key that is none': {
    environment: { MASTER_KEYS: 'canary-not-a-key' },
    says: [/MASTER_KEYS, entry 1: not of the form kid:base64url/],
  },
};

const stops: Readonly<Record<string, Stop>> = {
  'a log that is damaged in the middle, once it is read': {
    given: async (_, directory) => {
      await overwrite(directory, 'events.db', (bytes) => bytes.indexOf('node-one'), 'N'.charCodeAt(0));
      await rm(join(directory, 'read-models.db'));
    },
    says: [/events\.db is damaged: the event at sequence 1/, /restore events\.db from a backup/],
  },
  "another log than the views' checkpoints name": {
    given: (_, directory) => nameAnotherLog(directory, (name) => !name.startsWith('checkpoint/reaction/')),
    says: [/the view \S+ has followed the log another, but the configured log is/, /delete the read models/],
  },
  "another log than the reactions' marks name": {
    given: (_, directory) => nameAnotherLog(directory, (name) => name.startsWith('checkpoint/reaction/')),
    says: [/has followed the log another, but the configured log is/, /delete the read models/],
  },
  'an older log than the views and reactions have followed, also once it has grown further than they were': {
    given: restoreOlderLog,
    says: [/has passed an event of the stream node-\S+ .*older one/, /delete the read models/],
  },
};

for (const [title, { given, environment = {}, says }] of Object.entries(refusals)) {
  test.serial(`The start refuses with a sentence: ${title}`, async (t) => {
    const directory = await givenCopy(t, given);
    assertExplains(t, await refusalOf(directory, environment), says);
  });
}

for (const [title, { given, environment = {}, says }] of Object.entries(stops)) {
  test.serial(`The command serve stops with a sentence: ${title}`, async (t) => {
    const directory = await givenCopy(t, given);
    await assertStops(t, { directory, environment, says });
  });
}

/** An empty directory, or a damaged copy of the template. */
async function givenCopy(t: ExecutionContext, given: Stop['given']): Promise<string> {
  const directory = givenDirectory(t);
  if (given !== undefined) {
    for (const file of files) await cp(join((await template).path, file), join(directory, file));
    await given(t, directory);
  }
  return directory;
}

test.serial('The command serve stops with a sentence: a port that is in use', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  t.teardown(() => taken.close());
  await once(taken, 'listening');
  const address = taken.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const directory = givenDirectory(t);
  const says = [/127\.0\.0\.1:\d+ \(HOST, PORT\) is in use/, /choose another/];
  await assertStops(t, { directory, port: address.port, says });
});

test.serial('The start refuses with a sentence: a data directory that cannot be written', async (t) => {
  const directory = await makeUnwritableDirectory();
  t.teardown(() => directory.remove());
  const says = [/cannot be (made|opened)/, /check the .*permissions/];
  assertExplains(t, await refusalOf(directory.path), says);
});

for (const mode of [0o777, 0o770, 0o702])
  test.serial(
    `The start refuses a data directory that others may write: mode ${mode.toString(8)}`,
    async (t) => {
      const directory = givenDirectory(t);
      await chmod(directory, mode);
      const says = [/other users may write DATA_DIR/, new RegExp(`mode ${mode.toString(8)}`), /chmod go-w/];
      assertExplains(t, await refusalOf(directory), says);
      t.deepEqual(await readdir(directory), [], 'nothing was written');
    },
  );

test.serial('A data directory that the service makes is open to its user alone', async (t) => {
  const directory = join(givenDirectory(t), 'new', 'data');
  const before = process.umask(0);
  t.teardown(() => process.umask(before));
  const service = await startInProcess({ directory });
  await service.close();
  t.is((await stat(directory)).mode & 0o777, 0o700);
});

test.serial(
  'The command serve stops with a sentence: a data directory whose path is too long for a socket',
  async (t) => {
    const directory = givenDirectory(t);
    await assertStops(t, {
      directory: join(directory, ...Array.from({ length: 12 }, () => 'long-name')),
      says: [/control socket/, /choose a shorter DATA_DIR/],
    });
  },
);

test.serial('The command serve stops with a sentence: limits that do not exist', async (t) => {
  const directory = givenDirectory(t);
  const file = join(directory, 'limits.json');
  await writeFile(file, '{"registr": {"limit": 1, "seconds": 1}}');
  await assertStops(t, {
    directory: directory,
    environment: { LIMITS_FILE: file },
    says: [/no limit named registr; there are register/],
  });
});

test.serial(
  'A second service and a command without a socket stop with a sentence when another process owns the directory',
  async (t) => {
    // Given a process that owns the directory and has no control socket
    const directory = givenDirectory(t);
    const owner = await startInProcess({ directory });
    t.teardown(() => owner.close());
    // When a second service and a command open it too
    const says = [/in use by another process/, /Stop that one first/];
    await assertStops(t, { directory, says });
    const command = await runCli(directory, ['node', 'list']);
    t.is(command.code, 75);
    t.regex(command.stderr, /in use by another process/);
    // Then the first process goes on
    t.is((await fetch(`${owner.url}/healthz`)).status, 200);
  },
);

test.serial('The start refuses with a sentence: a MongoDB that does not answer', async (t) => {
  const says = [/the server that MONGODB_URL names cannot be reached/, /check that it runs/];
  assertExplains(t, await unreachable, says);
});

/** A start that fails after about ten seconds. It begins with the first test, and the last test checks it. */
async function startWithoutMongoDb(): Promise<unknown> {
  const environment = { ...keyEnvironment, MONGODB_URL: 'mongodb://127.0.0.1:1/stowage' };
  return refusalOf((await empty).path, environment);
}

const refusalOf = (directory: string, environment: Environment = {}): Promise<unknown> =>
  refusalOfStart({ directory, environment });

function assertExplains(t: ExecutionContext, error: unknown, says: readonly RegExp[]): void {
  if (!isExplained(error)) {
    t.fail(error instanceof Error ? error.stack : String(error));
    return;
  }
  for (const pattern of says) t.regex(error.message, pattern);
  t.notRegex(error.message, /canary|\n\s+at /);
}

async function assertStops(
  t: ExecutionContext,
  stop: {
    readonly directory: string;
    readonly port?: number;
    readonly environment?: Environment;
    readonly says: readonly RegExp[];
  },
): Promise<void> {
  const { directory, environment = {}, says } = stop;
  const service = spawnService({ directory, port: stop.port ?? (await freePort()), environment });
  await assertStopped(t, service, says);
}

async function assertStopped(
  t: ExecutionContext,
  service: ServiceProcess,
  says: readonly RegExp[],
): Promise<void> {
  // A service that goes on would keep the test waiting without end.
  t.timeout(120_000);
  t.teardown(() => service.kill());
  t.is(await service.exited, 1, service.output());
  const said = service.output();
  for (const pattern of says) t.regex(said, pattern);
  t.notRegex(said, /^\s+at /m, 'a stack trace');
  t.false(said.includes('canary'));
}

/** Gives some checkpoints the id of another log. */
async function nameAnotherLog(directory: string, isMeant: (name: string) => boolean): Promise<void> {
  const documents = await openDocuments(directory);
  const { readModelStore } = documents;
  const records = (await listRecords(readModelStore, 'checkpoint/')).filter(({ name }) => isMeant(name));
  if (records.length === 0) throw new Error('there is no such checkpoint');
  for (const { name, value, version } of records) {
    await putRecord(readModelStore, name, { ...value, log_id: 'another' }, version);
  }
  await documents.close();
}

/** Lets the views follow a second event, then restores the earlier log and appends other events to it. */
async function restoreOlderLog(_: ExecutionContext, directory: string): Promise<void> {
  const [log, backup] = [join(directory, 'events.db'), join(directory, 'events.db.backup')];
  await cp(log, backup);
  await fill(directory, 'node-two');
  await rm(join(directory, 'events.db.mark'));
  await cp(backup, log);
  await appendNodes(directory, 5);
}

async function appendNodes(directory: string, count: number): Promise<void> {
  const log = await openLog(directory);
  await log.eventStore.append('node-x', 'no-stream', makeEvents(count));
  await log.close();
}

/** A directory with a node in its log, its views and keys. */
async function fill(directory: string, name = 'node-one'): Promise<void> {
  const service = await startInProcess({ directory });
  const command = { commandId: randomUUID(), actor: 'operator', time: new Date(0) };
  await service.services.commands.addNode(
    {
      name,
      ip_address: '192.0.2.1',
      node_type: 'normal',
      lb_weight: 100,
      lb_enabled: true,
      dnsprovider_record_id: '',
      max_capacity_hint: null,
      note: '',
    },
    { ...command, causationId: command.commandId, correlationId: command.commandId },
  );
  await service.followed();
  await service.close();
}

/** Writes one byte at an offset of a file. */
async function overwrite(
  directory: string,
  name: string,
  place: (bytes: Buffer) => number,
  byte: number,
): Promise<void> {
  const path = join(directory, name);
  const bytes = await readFile(path);
  bytes[place(bytes)] = byte;
  await writeFile(path, bytes);
}
