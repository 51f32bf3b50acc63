import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { verifyBackup } from '../../src/operating/backup/backup-folder.js';
import { compareStores } from '../../src/operating/backup/check-restored.js';
import { ConfigProblem, readConfig } from '../../src/config/config.js';
import { StoreDamaged } from '../../src/event-sourcing/ports/errors.js';
import { backUp } from '../../src/operating/backup/backup.js';
import { restoreBackup } from '../../src/operating/backup/restore.js';
import { KeyProblem } from '../../src/keys/sealing/errors.js';
import { loadKeys } from '../../src/keys/rings/key-rings.js';
import { canaryRecord } from '../../src/keys/rings/key-canaries.js';
import { lockDirectory } from '../../src/stores/embedded/files/directory-lock.js';
import { keyEnvironment, runCli } from '../support/servers/service-process.js';
import { makeBackup, restoreInto, startWriting, backUpUnderLoad } from '../support/given/backups.js';
import { givenDirectory, makeDirectory, openStores } from '../support/servers/embedded-directory.js';
import { givenInProcess, startInProcess } from '../support/servers/service-in-process.js';

/** A backup of a small directory, made once. */
const small = makeDirectory();
const smallBackup = join(small.directory, 'backup');

test.before(async () => {
  const data = join(small.directory, 'data');
  const service = await startInProcess({ directory: data });
  const writing = startWriting(service.url, { clients: 1, name: 'small' });
  await writing.reached(3);
  await writing.stop();
  await service.close();
  await makeBackup(data, smallBackup);
});

test.after.always(() => small.remove());

test('A backup that was taken under load holds every write that was acknowledged before, and people sign in', async (t) => {
  const parent = givenDirectory(t);
  const [data, folder, restored] = [join(parent, 'data'), join(parent, 'backup'), join(parent, 'restored')];
  const load = { name: 'load', writes: 15 };
  const { again, counts, made, equal } = await backUpUnderLoad(t, { data, folder, restored }, load);
  t.teardown(() => again.close());
  t.true(equal > counts.projects, String(equal));
  t.is(made.events, Number(made.position));
  t.deepEqual(made.keys_apart, []);
  // and log, state, keys and views belong together
  const { stores, keyRings } = again.services;
  t.deepEqual((await compareStores(stores, keyRings)).problems, []);
});

test('The commands back a running service up, restore the folder, and compare', async (t) => {
  const parent = givenDirectory(t);
  const [data, folder, restored] = [join(parent, 'data'), join(parent, 'backup'), join(parent, 'restored')];
  const service = await startInProcess({ directory: data });
  await service.close();
  const backup = await runCli(data, ['backup', folder]);
  t.is(backup.code, 0, backup.stderr);
  t.deepEqual(readdirSync(folder).toSorted(), ['events.db', 'keys.json', 'manifest.json', 'state.db']);
  t.is(statSync(folder).mode & 0o777, 0o700);
  t.is(statSync(join(folder, 'keys.json')).mode & 0o777, 0o600);
  t.deepEqual(readdirSync(parent).toSorted(), ['backup', 'data']);
  const checked = await runCli(restored, ['restore', '--check', folder]);
  t.is(checked.code, 0, checked.stderr);
  t.regex(checked.stdout, /^files: events\.db, state\.db, keys\.json$/m);
  t.notRegex(checked.stdout, /data_keys|views/);
  const restore = await runCli(restored, ['restore', folder]);
  t.is(restore.code, 0, restore.stderr);
  t.deepEqual(readdirSync(restored).toSorted(), ['events.db', 'keys.json', 'lock.db', 'state.db']);
});

test('A backup takes no folder that holds anything, and a restore no directory that holds anything', async (t) => {
  const parent = givenDirectory(t);
  const taken = join(parent, 'taken');
  mkdirSync(taken);
  writeFileSync(join(taken, 'holiday.txt'), '');
  const message = /taken is not empty/;
  await t.throwsAsync(makeBackup(join(small.directory, 'data'), taken), {
    instanceOf: ConfigProblem,
    message,
  });
  await t.throwsAsync(restoreInto(taken, smallBackup), { instanceOf: ConfigProblem, message });
  t.deepEqual(readdirSync(taken), ['holiday.txt']);
});

test('A directory without data is not backed up, and no command makes it', async (t) => {
  const parent = givenDirectory(t);
  await t.throwsAsync(makeBackup(join(parent, 'data'), join(parent, 'backup')), { message: /holds no data/ });
  t.deepEqual(readdirSync(parent), []);
});

test('A file of a backup that is cut off, changed or absent is refused, and nothing is restored', async (t) => {
  const parent = givenDirectory(t);
  const [folder, target] = [join(parent, 'cut'), join(parent, 'target')];
  for (const name of ['events.db', 'state.db', 'keys.json']) {
    cpSync(smallBackup, folder, { recursive: true });
    const path = join(folder, name);
    const whole = readFileSync(path);
    for (const length of [whole.length - 1, Math.floor(whole.length / 2), 1, 0]) {
      truncateSync(path, length);
      const message = new RegExp(`${name} has ${length} bytes and had ${whole.length}`);
      await t.throwsAsync(restoreInto(target, folder), { instanceOf: StoreDamaged, message });
    }
    whole.writeUInt8(whole.readUInt8(whole.length - 1) ^ 1, whole.length - 1);
    writeFileSync(path, whole);
    await t.throwsAsync(restoreInto(target, folder), {
      message: new RegExp(`${name} differs from its digest`),
    });
    rmSync(path);
    await t.throwsAsync(restoreInto(target, folder), { message: new RegExp(`${name} is missing`) });
    rmSync(folder, { recursive: true });
  }
  t.false(existsSync(target));
});

test('A service does not start on the half of a restore, and the restore may be repeated', async (t) => {
  const target = join(givenDirectory(t), 'target');
  mkdirSync(target);
  for (const name of ['restore.unfinished', 'state.db']) writeFileSync(join(target, name), '');
  await t.throwsAsync(openStores(target), {
    instanceOf: StoreDamaged,
    message: /`stowage restore` did not end/,
  });
  await restoreInto(target, smallBackup);
  const stores = await openStores(target);
  t.not(await stores.stateStore.get(canaryRecord), null);
  await stores.close();
});

test('A backup says which keys it does not hold, and the restore which variables must be set', async (t) => {
  const parent = givenDirectory(t);
  const [data, folder] = [join(parent, 'data'), join(parent, 'backup')];
  await (await startInProcess({ directory: data, environment: keyEnvironment })).close();
  const made = await makeBackup(data, folder);
  t.deepEqual(made.keys, []);
  t.deepEqual(made.keys_apart, Object.keys(keyEnvironment));
  const restored = await restoreInto(join(parent, 'restored'), folder);
  t.deepEqual(restored.set_before_start, Object.keys(keyEnvironment));
  t.is((await verifyBackup(folder, () => undefined)).files.length, 2);
});

test('A service may start while its directory is copied', async (t) => {
  // Given the directory of a stopped service
  const data = join(small.directory, 'data');
  let locked = 0;
  // When it is backed up
  await backUp(readConfig({ DATA_DIR: data }), join(givenDirectory(t), 'backup'), {
    now: new Date(),
    onShare: () => {
      // Then the directory can be locked as soon as rows are copied
      lockDirectory(data)();
      locked += 1;
    },
  });
  t.true(locked > 0);
});

test('A restore with a malformed key setting fails, leaves its flag, and may be repeated', async (t) => {
  const target = join(givenDirectory(t), 'target');
  const config = readConfig({ DATA_DIR: target, MASTER_KEYS: 'no keys' });
  await t.throwsAsync(
    restoreBackup(config, smallBackup, () => undefined),
    { instanceOf: KeyProblem },
  );
  t.true(existsSync(join(target, 'restore.unfinished')));
  t.deepEqual((await restoreInto(target, smallBackup)).set_before_start, []);
  t.false(existsSync(join(target, 'restore.unfinished')));
});

test('A restore reads the files of key settings before it writes', async (t) => {
  const parent = givenDirectory(t);
  const [target, keys] = [join(parent, 'target'), join(parent, 'keys')];
  writeFileSync(keys, 'a:b');
  const config = readConfig({ DATA_DIR: target, MASTER_KEYS_FILE: keys });
  rmSync(keys);
  await t.throwsAsync(
    restoreBackup(config, smallBackup, () => undefined),
    { instanceOf: ConfigProblem },
  );
  t.false(existsSync(target));
});

test('With servers the backup refuses and names the document', async (t) => {
  const config = readConfig({ ...keyEnvironment, MONGODB_URL: 'mongodb://127.0.0.1:1/stowage' });
  await t.throwsAsync(backUp(config, '/nowhere', { now: new Date(), onShare: () => undefined }), {
    message: /docs\/backup\.md#backup/,
  });
});

test('The comparison names an event that this release cannot read, and goes on', async (t) => {
  const directory = join(givenDirectory(t), 'data');
  await restoreInto(directory, smallBackup);
  const stores = await openStores(directory);
  t.teardown(() => stores.close());
  const id = '01a2270a-bc67-70c6-b90d-4aaf8e2113fd';
  const metadata = { actor: 'operator', command_id: id, correlation_id: id, causation_id: id, time: '' };
  await stores.eventStore.append(`order-${id}`, 'no-stream', [
    { id, type: 'OrderFramed', data: {}, metadata },
  ]);
  const keys = loadKeys({ settings: {}, keyFile: join(directory, 'keys.json') });
  const { problems, data_keys } = await compareStores(stores, keys);
  t.deepEqual(data_keys, { needed: 1, found: 1 });
  t.is(problems.length, 1);
  t.regex(problems[0] ?? '', /1 events that this release cannot read, for example revision 0 of order-/);
});

test('The comparison finds a state that lacks data keys, belongs to another log, and has other keys', async (t) => {
  // Given a restored log with accounts beside the state of another service
  const parent = givenDirectory(t);
  const [one, other] = [join(parent, 'one'), join(parent, 'other')];
  await restoreInto(one, smallBackup);
  const service = await givenInProcess(t, { directory: other });
  const stores = await openStores(one);
  t.teardown(() => stores.close());
  // When they are compared
  const { stateStore, readModelStore } = service.services.stores;
  const { keyRings } = service.services;
  const report = await compareStores({ eventStore: stores.eventStore, stateStore, readModelStore }, keyRings);
  // Then each fault is a sentence
  t.like(report, { data_keys: { needed: 1, found: 0 } });
  const said = report.problems.join('\n');
  t.regex(said, /the state belongs to the log \S+, and the log is/);
  t.regex(said, /it lacks 1 data keys that the log needs, for example data-key\/person\//);
  t.regex((await compareStores(stores, keyRings)).problems.join('\n'), /MASTER_KEYS lacks the key/);
});
