import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { StoreDamaged } from '../../../src/event-sourcing/ports/errors.js';
import { copyStores } from '../../../src/stores/embedded/files/copy-stores.js';
import { positionOf } from '../../../src/stores/embedded/log/event-rows.js';
import { makeEvent } from '../../contracts/event-store-fixtures.js';
import { givenDirectory, makeDirectory, openStores } from '../../support/servers/embedded-directory.js';

const root = makeDirectory();
const [earlier, ended, running] = ['earlier', 'ended', 'running'].map((name) => join(root.directory, name));

/** A closed directory with one event and one record, the same one with two of each, and with three while it is open. */
test.before(async () => {
  const directory = join(root.directory, 'data');
  for (const [round, target] of [earlier, ended, running].entries()) {
    const stores = await openStores(directory);
    await stores.stateStore.compareAndSet(`key/${round}`, null, { wrapped: 'a key' });
    await stores.eventStore.append(`thing-${round}`, 'no-stream', [makeEvent()]);
    if (target !== running) await stores.close();
    cpSync(directory, target ?? '', { recursive: true });
    if (target === running) await stores.close();
  }
});

test.after.always(() => root.remove());

/** Makes a directory with files of the directories above. */
function given(t: ExecutionContext, files: Readonly<Record<string, string | undefined>>): string {
  const directory = givenDirectory(t);
  for (const [name, from = ''] of Object.entries(files)) cpSync(join(from, name), join(directory, name));
  return directory;
}

function copy(directory: string): ReturnType<typeof copyStores> {
  const target = join(directory, 'copy');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target);
  return copyStores({
    ...{ directory, target, readBeside: () => null, isSame: () => true },
    ...{ onMoment: () => undefined, onProgress: () => undefined },
  });
}

const whole = (from: string | undefined): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    ['events.db', 'events.db.mark', 'state.db', 'state.db.mark'].map((name) => [name, from]),
  );
const wals = { 'events.db-wal': running, 'state.db-wal': running };

test('Directories of ended and of killed services are copied with all that they hold', async (t) => {
  t.like(await copy(given(t, whole(ended))), { events: 2, stateVersion: 2 });
  t.like(await copy(given(t, { ...whole(running), ...wals })), { events: 3, stateVersion: 3 });
  t.like(await copy(given(t, { 'events.db': ended, 'state.db': ended })), { events: 2, stateVersion: 2 });
  const emptied = given(t, { ...whole(earlier) });
  writeFileSync(join(emptied, 'events.db.mark'), '');
  t.like(await copy(emptied), { events: 1, stateVersion: 1 });
});

test('A copy names the position of its last event, and none when the log is empty', async (t) => {
  t.like(await copy(given(t, whole(ended))), { events: 2, position: positionOf(2) });
  const directory = givenDirectory(t);
  await (await openStores(directory)).close();
  t.like(await copy(directory), { events: 0, records: 0, position: null });
});

for (const file of ['events.db', 'state.db']) {
  test(`A copy is refused when ${file} was taken alone from a running service`, async (t) => {
    const files = { ...whole(ended), [file]: running };
    const directory = given(t, files);
    rmSync(join(directory, `${file}.mark`));
    const message = new RegExp(`^${file} is damaged: it was copied without its ${file}-wal`);
    await t.throwsAsync(copy(directory), { instanceOf: StoreDamaged, message });
  });

  test(`A copy is refused when ${file} ends before its mark`, async (t) => {
    const message = new RegExp(`^${file} is damaged: it ends at 1 and had reached 2`);
    const directory = given(t, { ...whole(ended), [file]: earlier });
    await t.throwsAsync(copy(directory), { instanceOf: StoreDamaged, message });
  });

  test(`A copy is refused when the mark of ${file} is damaged`, async (t) => {
    const directory = given(t, whole(ended));
    writeFileSync(join(directory, `${file}.mark`), '0000000000000001 00000000');
    const message = new RegExp(`^${file}\\.mark is damaged`);
    await t.throwsAsync(copy(directory), { instanceOf: StoreDamaged, message });
  });
}

test('A copy is refused when the state is older than the log has noted', async (t) => {
  const directory = given(t, { ...whole(ended), 'state.db': earlier });
  rmSync(join(directory, 'state.db.mark'));
  const message = /^state\.db is damaged: it ends at 1 and had reached 2/;
  await t.throwsAsync(copy(directory), { instanceOf: StoreDamaged, message });
});
