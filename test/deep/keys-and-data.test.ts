import { cp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { KeyProblem } from '../../src/keys/sealing/errors.js';
import { canaryRecord } from '../../src/keys/rings/key-canaries.js';
import { openConnection, openReader } from '../../src/stores/embedded/files/database.js';
import { makeServiceClient } from '../support/clients/service-client.js';
import {
  givenDirectory,
  keyEnvironment,
  type Environment,
  makeDataDirectory,
} from '../support/servers/service-process.js';
import { refusalOfStart, startInProcess } from '../support/servers/service-in-process.js';
import { changedKeys } from '../support/examples/changed-keys.js';
import { readdirSync, readFileSync } from 'node:fs';

const template = makeDataDirectory();

/** A data directory with an account, whose keys were set by variables. */
test.before(async () => {
  const service = await startInProcess({ directory: (await template).path, environment: keyEnvironment });
  await makeServiceClient(service.url).register('ada@example.org', 'Correct-Horse-7');
  await service.close();
});

test.after.always(async () => {
  await (await template).remove();
});

async function givenCopy(t: ExecutionContext): Promise<string> {
  const directory = givenDirectory(t);
  const { path } = await template;
  for (const name of await readdir(path)) await cp(join(path, name), join(directory, name));
  return directory;
}

const refusalOf = (directory: string, environment: Environment = {}): Promise<unknown> =>
  refusalOfStart({ directory, environment });

for (const { what, variables, environment } of changedKeys) {
  test.serial(`Embedded stores, ${what}: the start names the variable and writes nothing`, async (t) => {
    const directory = await givenCopy(t);
    const before = dumpDirectory(directory);
    const refusal = await refusalOf(directory, environment);
    if (!(refusal instanceof KeyProblem)) {
      t.fail(String(refusal));
      return;
    }
    for (const name of variables) t.regex(refusal.message, new RegExp(name));
    t.deepEqual(dumpDirectory(directory), before);
  });
}

test.serial(
  'Embedded stores: the right keys start, and keys.json takes the place of no variable',
  async (t) => {
    const directory = await givenCopy(t);
    t.is(await refusalOf(directory, keyEnvironment), null);
    t.false((await readdir(directory)).includes('keys.json'));
  },
);

test.serial('Embedded stores: a log beside a state that lacks the canaries is refused', async (t) => {
  const directory = await givenCopy(t);
  const connection = openConnection(join(directory, 'state.db'));
  connection.statement('DELETE FROM records WHERE key = ?')(canaryRecord);
  connection.close();
  const before = dumpDirectory(directory);
  t.regex(String(await refusalOf(directory, keyEnvironment)), /StoreDamaged: .* the state is missing/);
  t.deepEqual(dumpDirectory(directory), before);
});

test.serial(
  'A log with accounts beside an empty state is refused, also without a note of the state in the log',
  async (t) => {
    const directory = await givenCopy(t);
    for (const name of ['state.db', 'state.db.mark', 'state.db-wal', 'state.db-shm']) {
      await rm(join(directory, name), { force: true });
    }
    t.regex(
      String(await refusalOf(directory, keyEnvironment)),
      /StoreDamaged: state\.db is missing or empty/,
    );
  },
);

/** Returns the rows of all databases of a directory that no process uses, and the text of its other files. */
function dumpDirectory(directory: string): Readonly<Record<string, unknown>> {
  const names = readdirSync(directory)
    .filter((name) => !name.startsWith('lock.db') && !/-(wal|shm)$/.test(name))
    .toSorted();
  return Object.fromEntries(
    names.map((name) => {
      const path = join(directory, name);
      return [name, name.endsWith('.db') ? dumpDatabase(path) : readFileSync(path, 'latin1')];
    }),
  );
}

function dumpDatabase(path: string): Readonly<Record<string, string>> {
  const connection = openReader(path);
  const tables = connection
    .query<readonly [Buffer]>(
      "SELECT CAST(name AS BLOB) FROM sqlite_schema WHERE type = 'table' ORDER BY name",
    )
    .all();
  const rows = tables.map(([name]) => {
    const all = connection.query(`SELECT * FROM "${name.toString()}"`).all();
    return [
      name.toString(),
      JSON.stringify(all, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    ];
  });
  connection.close();
  return Object.fromEntries(rows) as Record<string, string>;
}
