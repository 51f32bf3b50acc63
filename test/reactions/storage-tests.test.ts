import test from 'ava';
import { makeChooseFirstDefault as makeChooseFirst } from '../../src/commands/choose-first-default.js';
import { makeOpenStorage, type OpenStorage } from '../../src/commands/open-storage.js';
import { makeProbeStorage } from '../../src/commands/probe-storage.js';
import { projectAggregate } from '../../src/domain/project/project.js';
import { testLeaseMs } from '../../src/domain/storage/test-failure.js';
import { StoreUnavailable } from '../../src/event-sourcing/errors.js';
import { type AnyReaction, contextFor, eventFor } from '../../src/event-sourcing/reaction.js';
import { makeStorageUrls } from '../../src/integrations/object-storage/media-urls.js';
import type { ProbeFailure } from '../../src/integrations/object-storage/probe-failure.js';
import { makeChooseFirstDefault } from '../../src/reactions/choose-first-default.js';
import { makeProbeStorages } from '../../src/reactions/probe-storages.js';
import { appendEvents } from '../support/append-events.js';
import { userId } from '../support/examples/ids.js';
import { givenCommands } from '../support/given-commands.js';
import { nextContext } from '../support/given-share.js';
import { givenStores } from '../support/given-stores.js';

const projectId = '019b7d00-0000-7000-8000-0000000000d1';
const first = { access_key: 'the first key', secret_key: 'the first secret' };

/** A project, and the reactions to its storages with a bucket that does as it is told. */
async function given() {
  const stores = await givenStores();
  const { clock, handler, eventStore } = stores;
  const commands = givenCommands(stores);
  await appendEvents(
    handler,
    { aggregate: projectAggregate, id: projectId },
    [
      { type: 'ProjectCreated', data: { name: 'Rivers', owner_id: userId } },
      { type: 'EntitlementGranted', data: { entitlement: 'allow_s3', source: 'operator' } },
    ],
    clock.now(),
  );
  /** What was probed: the address, by whose key. */
  const probed: string[] = [];
  const bucket: { failure: ProbeFailure | null } = { failure: null };
  const openStorage: OpenStorage = makeOpenStorage({ ...stores, makeUrls: makeStorageUrls });
  const probeStorage = makeProbeStorage({
    handler,
    openStorage,
    probe: ({ urls, basePath }) => {
      const request = { method: 'GET', key: basePath, signedAt: clock.now(), expiresInSeconds: 60 } as const;
      const url = new URL(urls.bucket.presign(request));
      probed.push(`${url.host} ${url.searchParams.get('X-Amz-Credential')?.split('/')[0] ?? ''}`);
      return Promise.resolve(bucket.failure);
    },
  });
  const probing: AnyReaction = makeProbeStorages({ probeStorage, clock });
  const choosing: AnyReaction = makeChooseFirstDefault(commands);
  const address = (storageId: string) => ({ projectId, storageId });
  return {
    ...{ stores, commands, bucket, probed, probing, choosing },
    bind: async (): Promise<string> => {
      const request = { name: 'Rushes', provider: 's3', bucket: 'rushes', region: 'eu-central-1' } as const;
      const input = { projectId, ...request, credentials: first };
      return (await commands.createStorage(input, nextContext(stores))).resource.id;
    },
    test: (storageId: string) => commands.testStorage(address(storageId), nextContext(stores)),
    shown: async (storageId: string) => (await commands.storages.find(projectId, storageId))?.resource,
    /** Serves all events of the log that ask for it. @returns how many */
    serve: async (reaction: AnyReaction): Promise<number> => {
      let served = 0;
      const { events } = await eventStore.readAll({ after: null, limit: 500 });
      for (const stored of events) {
        const event = eventFor(reaction, stored);
        if (event === null || (await reaction.asks(event)) !== 'yes') continue;
        const result = await reaction.perform?.(event, new AbortController().signal);
        await reaction.conclude(event, contextFor(reaction, event), result);
        served += 1;
      }
      return served;
    },
  };
}

test('a test whose lease has run out has failed, without anything being asked of the storage', async (t) => {
  const { stores, bind, test: start, serve, probing, probed, shown } = await given();
  const [late, inTime] = [await bind(), await bind()];
  // Given a test that nobody has carried out for a minute, and one that has a millisecond left
  await start(late);
  stores.clock.advance(1);
  await start(inTime);
  stores.clock.advance(testLeaseMs - 1);
  // When the reaction comes to them
  t.is(await serve(probing), 2);
  // Then
  t.like(await shown(late), {
    status: 'failed',
    last_error: 'probe_timeout: The test did not finish. Try again.',
  });
  t.like(await shown(inTime), { status: 'active', last_error: '' });
  t.is(probed.length, 1);
  // And it can be tested again
  await start(late);
  await serve(probing);
  t.like(await shown(late), { status: 'active', last_error: '' });
});

test('a candidate whose lease has run out is dropped, and what serves goes on', async (t) => {
  const { stores, bind, test: start, serve, probing, shown, commands } = await given();
  const storageId = await bind();
  await start(storageId);
  await serve(probing);
  const changed = { projectId, storageId, changes: { bucket: 'lakes' } };
  t.true((await commands.changeStorage(changed, nextContext(stores))).isTested);
  stores.clock.advance(testLeaseMs);
  await serve(probing);
  const after = await shown(storageId);
  t.like(after, { status: 'active', bucket: 'rushes' });
  t.regex(after?.last_error ?? '', /^probe_timeout: /);
});

test('new credentials of an active storage are what its test signs with, and the old ones serve until it has passed', async (t) => {
  const { stores, bind, test: start, serve, probing, probed, bucket, commands } = await given();
  const storageId = await bind();
  await start(storageId);
  await serve(probing);
  const openStorage = makeOpenStorage({ ...stores, makeUrls: makeStorageUrls });
  const keyThatServes = async (): Promise<string> => {
    const opened = await openStorage.serving(storageId);
    const signed = opened?.urls.mediaUrl({ key: 'a', signedAt: stores.clock.now(), expiresInSeconds: 60 });
    return new URL(signed ?? '').searchParams.get('X-Amz-Credential')?.split('/')[0] ?? '';
  };
  const replaceBy = (name: string) =>
    commands.replaceStorageCredentials(
      { projectId, storageId, credentials: { access_key: `the ${name} key`, secret_key: name } },
      nextContext(stores),
    );
  // Given new ones that do not pass
  bucket.failure = { code: 'signature_mismatch', hint: null };
  await replaceBy('second');
  await serve(probing);
  t.is(await keyThatServes(), 'the first key');
  // When others pass
  bucket.failure = null;
  await replaceBy('third');
  t.is(await keyThatServes(), 'the first key');
  await serve(probing);
  // Then they serve, and each test was made with its own
  t.is(await keyThatServes(), 'the third key');
  const host = 'rushes.s3.eu-central-1.amazonaws.com';
  t.deepEqual(probed, [`${host} the first key`, `${host} the second key`, `${host} the third key`]);
  // And when the storage goes, so do the keys of all that it ever had
  await commands.deleteStorage({ projectId, storageId }, nextContext(stores));
  for (const version of [1, 2, 3]) {
    const scope = { kind: 'storage-credentials', projectId, storageId, version } as const;
    await t.throwsAsync(() => stores.sealer.seal(scope, 'access_key', 'a'), { name: 'KeyDestroyed' });
  }
});

test('the first storage that works becomes the default, also where a crash came between', async (t) => {
  const { stores, bind, test: start, serve, probing, choosing, shown, commands } = await given();
  const [one, other] = [await bind(), await bind()];
  for (const storageId of [one, other]) await start(storageId);
  // Given that the process ends when both have passed
  await serve(probing);
  t.like(await shown(one), { status: 'active', is_default: false });
  // When the next one takes up what is left
  t.is(await serve(choosing), 1);
  // Then the first is the default, once and for all
  t.like(await shown(one), { is_default: true });
  t.like(await shown(other), { is_default: false });
  t.is(await serve(choosing), 0);
  // And a default that was deleted counts as none
  await commands.chooseDefaultStorage({ projectId, storageId: other }, nextContext(stores));
  await commands.deleteStorage({ projectId, storageId: one }, nextContext(stores));
  await commands.deleteStorage({ projectId, storageId: other }, nextContext(stores));
  const third = await bind();
  await start(third);
  await serve(probing);
  t.is(await serve(choosing), 1);
  t.like(await shown(third), { is_default: true });
});

test('a default is chosen neither for a storage that works no more, nor in a project that is gone', async (t) => {
  const { stores, bind, test: start, serve, probing, choosing, commands } = await given();
  const storageId = await bind();
  await start(storageId);
  await serve(probing);
  await commands.disableStorage({ projectId, storageId }, nextContext(stores));
  t.is(await serve(choosing), 0);
  const again = await bind();
  await start(again);
  await serve(probing);
  const target = { aggregate: projectAggregate, id: projectId };
  await appendEvents(stores.handler, target, [{ type: 'ProjectDeleted', data: {} }], stores.clock.now());
  t.is(await serve(choosing), 0);
  // Where the store is away it is not known, which is no answer
  const away = { load: () => Promise.reject(new StoreUnavailable('away')) };
  const unknown = makeChooseFirst({ handler: { ...stores.handler, ...away } });
  await t.throwsAsync(() => unknown.isWanted(again), { instanceOf: StoreUnavailable });
});
