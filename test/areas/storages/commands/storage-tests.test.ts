import test from 'ava';
import {
  makeChooseFirstDefault,
  makeChooseFirstDefaultReaction,
} from '../../../../src/areas/storages/commands/choose-first-default.js';
import { makeOpenStorage, type OpenStorage } from '../../../../src/areas/storages/commands/open-storage.js';
import { makeProbeStorage, makeProbeStorages } from '../../../../src/areas/storages/commands/probing.js';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { storageAggregate } from '../../../../src/areas/storages/domain/storage/storage.js';
import { testLeaseMs } from '../../../../src/areas/storages/domain/delivery/test-failure.js';
import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import type { AnyReaction } from '../../../../src/event-sourcing/effects/reaction.js';
import { makeStorageUrls } from '../../../../src/areas/storages/bucket/signing/media-urls.js';
import type { ProbeFailure } from '../../../../src/areas/storages/bucket/probing/probe-failure.js';
import { appendEvents } from '../../../support/given/append-events.js';
import { userId } from '../../../support/examples/ids.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { nextContext } from '../../../support/given/given-share.js';
import { givenStores } from '../../../support/given/given-stores.js';
import { accountsOf, serveReaction } from '../../../support/given/serve-reaction.js';

const projectId = '019b7d00-0000-7000-8000-0000000000d1';
const first = { access_key: 'the first key', secret_key: 'the first secret' };

/** Given a project, and the reactions to its storages with a bucket that answers as the test sets. */
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
  /** The probes so far: the address and the access key of each. */
  const probed: string[] = [];
  const bucket: { failure: ProbeFailure | null; answers?: () => Promise<never> } = { failure: null };
  /** What the log would name. */
  const reported: string[] = [];
  const openStorage: OpenStorage = makeOpenStorage({ ...stores, makeUrls: makeStorageUrls });
  const probeStorage = makeProbeStorage({
    handler,
    openStorage,
    probe: ({ urls, basePath }) => {
      const request = { method: 'GET', key: basePath, signedAt: clock.now(), expiresInSeconds: 60 } as const;
      const url = new URL(urls.bucket.presign(request));
      probed.push(`${url.host} ${url.searchParams.get('X-Amz-Credential')?.split('/')[0] ?? ''}`);
      const { failure, answers } = bucket;
      return answers === undefined ? Promise.resolve({ failure, warnings: [] }) : answers();
    },
    onFailure: (what, error) => reported.push(`${what}: ${error instanceof Error ? error.name : ''}`),
    browserOrigins: [],
    timeMs: 300,
  });
  const probing: AnyReaction = makeProbeStorages({ probeStorage, clock });
  const choosing: AnyReaction = makeChooseFirstDefaultReaction(commands);
  const address = (storageId: string) => ({ projectId, storageId });
  const bind = async (): Promise<string> => {
    const request = { name: 'Rushes', provider: 's3', bucket: 'rushes', region: 'eu-central-1' } as const;
    const input = { projectId, ...request, credentials: first };
    return (await commands.createStorage(input, nextContext(stores))).resource.id;
  };
  const startTest = (storageId: string) => commands.testStorage(address(storageId), nextContext(stores));
  return {
    ...{ stores, commands, bucket, probed, reported, probeStorage, probing, choosing },
    bind,
    test: startTest,
    /** Binds a storage, and runs its test. */
    bindTested: async (): Promise<string> => {
      const storageId = await bind();
      await startTest(storageId);
      await serveReaction(probing, { eventStore });
      return storageId;
    },
    shown: async (storageId: string) => (await commands.storages.find(projectId, storageId))?.resource,
    /** Runs a reaction over the log. @returns the number of handled events */
    serve: (reaction: AnyReaction): Promise<number> => serveReaction(reaction, { eventStore }),
  };
}

test('A test whose lease has expired fails without a call to the storage', async (t) => {
  const { stores, bind, test: start, serve, probing, probed, shown } = await given();
  const [late, inTime] = [await bind(), await bind()];
  // Given a test that no process has run for a minute, and one with a millisecond left
  await start(late);
  stores.clock.advance(1);
  await start(inTime);
  stores.clock.advance(testLeaseMs - 1);
  // When the reaction handles them
  t.is(await serve(probing), 2);
  // Then the late one fails, and the other one passes
  t.like(await shown(late), {
    status: 'failed',
    last_error: 'probe_timeout: The test did not finish. Try again.',
  });
  t.like(await shown(inTime), { status: 'active', last_error: '' });
  t.is(probed.length, 1);
  // and the late one can be tested again
  await start(late);
  await serve(probing);
  t.like(await shown(late), { status: 'active', last_error: '' });
});

test('An error inside a test ends it with a code at the first attempt', async (t) => {
  const { bind, test: start, serve, probing, bucket, reported, shown } = await given();
  const storageId = await bind();
  // Given a storage whose test throws an error that no rule knows
  bucket.answers = () => Promise.reject(new TypeError('canary: Invalid URL'));
  await start(storageId);
  t.is(await serve(probing), 1);
  // Then it fails with a code, the log names the error, and the next test may pass
  const failed = await shown(storageId);
  t.is(failed?.status, 'failed');
  t.regex(failed?.last_error ?? '', /^test_broken: /);
  t.notRegex(JSON.stringify(failed), /canary/);
  t.deepEqual(reported, ['a storage was not tested: TypeError']);
  delete bucket.answers;
  await start(storageId);
  await serve(probing);
  t.like(await shown(storageId), { status: 'active', last_error: '' });
});

test('A test that never answers is cut off and fails', async (t) => {
  const { bind, test: start, serve, probing, bucket, shown } = await given();
  const storageId = await bind();
  bucket.answers = () => new Promise(() => undefined);
  await start(storageId);
  // The time limit keeps no process alive by itself.
  const alive = setInterval(() => undefined, 1_000);
  t.teardown(() => clearInterval(alive));
  t.is(await serve(probing), 1);
  t.like(await shown(storageId), {
    status: 'failed',
    last_error: 'probe_timeout: The test did not finish. Try again.',
  });
});

test('A process that ends leaves the test to another process', async (t) => {
  const { stores, bind, test: start, probeStorage, bucket, reported } = await given();
  const storageId = await bind();
  bucket.answers = () => new Promise(() => undefined);
  const { resource } = await start(storageId);
  t.is(resource.status, 'testing');
  const ending = AbortSignal.abort(new Error('the process ends'));
  const testId = await testIdOf(storageId);
  await t.throwsAsync(probeStorage.probe({ storageId, testId }, ending), { message: 'the process ends' });
  t.deepEqual(reported, []);

  async function testIdOf(id: string): Promise<string> {
    const { state } = await stores.handler.load(storageAggregate, id);
    return state.status === 'absent' || state.status === 'deleted' ? '' : (state.test?.id ?? '');
  }
});

test('A candidate whose lease has expired is dropped, and the active configuration stays', async (t) => {
  const { stores, serve, probing, shown, commands, bindTested } = await given();
  const storageId = await bindTested();
  const changed = { projectId, storageId, changes: { bucket: 'lakes' } };
  t.true((await commands.changeStorage(changed, nextContext(stores))).isTested);
  stores.clock.advance(testLeaseMs);
  await serve(probing);
  const after = await shown(storageId);
  t.like(after, { status: 'active', bucket: 'rushes' });
  t.regex(after?.last_error ?? '', /^probe_timeout: /);
});

test('New credentials of an active storage are used by their test, and the old ones stay in use until it passes', async (t) => {
  const { stores, serve, probing, probed, bucket, commands, bindTested } = await given();
  const storageId = await bindTested();
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
  // Given new credentials that fail
  bucket.failure = { code: 'signature_mismatch', hint: null };
  await replaceBy('second');
  await serve(probing);
  t.is(await keyThatServes(), 'the first key');
  // When other credentials pass
  bucket.failure = null;
  await replaceBy('third');
  t.is(await keyThatServes(), 'the first key');
  await serve(probing);
  // Then they are in use, and each test used its own credentials
  t.is(await keyThatServes(), 'the third key');
  const host = 'rushes.s3.eu-central-1.amazonaws.com';
  t.deepEqual(probed, [`${host} the first key`, `${host} the second key`, `${host} the third key`]);
  // and the deletion of the storage destroys the keys of all its credentials
  await commands.deleteStorage({ projectId, storageId }, nextContext(stores));
  for (const version of [1, 2, 3]) {
    const scope = { kind: 'storage-credentials', projectId, storageId, version } as const;
    await t.throwsAsync(() => stores.sealer.seal(scope, 'access_key', 'a'), { name: 'KeyDestroyed' });
  }
});

test('The credentials of a storage are opened once while its state is the same, and not after its deletion', async (t) => {
  const { stores, commands, bindTested } = await given();
  const storageId = await bindTested();
  let opened = 0;
  const open: typeof stores.sealer.open = (...args) => {
    opened += 1;
    return stores.sealer.open(...args);
  };
  const sealer = { ...stores.sealer, open };
  const openStorage = makeOpenStorage({ ...stores, sealer, makeUrls: makeStorageUrls });
  const once = await openStorage.serving(storageId);
  t.is(await openStorage.serving(storageId), once);
  t.is(opened, 2, 'the key and its secret');
  // When the storage changes, the next request opens it again
  await commands.changeStorage({ projectId, storageId, changes: { name: 'Dailies' } }, nextContext(stores));
  t.is((await openStorage.serving(storageId))?.storage.configuration.name, 'Dailies');
  t.is(opened, 4);
  // When it is deleted, nothing of it is served
  await commands.deleteStorage({ projectId, storageId }, nextContext(stores));
  t.is(await openStorage.serving(storageId), null);
});

test('The first storage that becomes active becomes the default, also after a crash', async (t) => {
  const { stores, bind, test: start, serve, probing, choosing, shown, commands, bindTested } = await given();
  const [one, other] = [await bind(), await bind()];
  for (const storageId of [one, other]) await start(storageId);
  // Given a process that ends when both have passed
  await serve(probing);
  t.like(await shown(one), { status: 'active', is_default: false });
  // When the next process handles the remaining events
  t.is(await serve(choosing), 1);
  // Then the first storage is the default for good
  t.like(await shown(one), { is_default: true });
  t.like(await shown(other), { is_default: false });
  t.is(await serve(choosing), 0);
  // and a deleted default counts as none
  await commands.chooseDefaultStorage({ projectId, storageId: other }, nextContext(stores));
  await commands.deleteStorage({ projectId, storageId: one }, nextContext(stores));
  await commands.deleteStorage({ projectId, storageId: other }, nextContext(stores));
  const third = await bindTested();
  t.is(await serve(choosing), 1);
  t.like(await shown(third), { is_default: true });
});

test('A storage that is no longer active becomes no default, nor does one of a deleted project', async (t) => {
  const { stores, serve, choosing, commands, bindTested } = await given();
  const storageId = await bindTested();
  await commands.disableStorage({ projectId, storageId }, nextContext(stores));
  t.is(await serve(choosing), 0);
  const again = await bindTested();
  const target = { aggregate: projectAggregate, id: projectId };
  await appendEvents(stores.handler, target, [{ type: 'ProjectDeleted', data: {} }], stores.clock.now());
  t.is(await serve(choosing), 0);
  // While the store is away the answer is unknown, and the call fails.
  const away = { load: () => Promise.reject(new StoreUnavailable('away')) };
  const unknown = makeChooseFirstDefault({ handler: { ...stores.handler, ...away } });
  await t.throwsAsync(() => unknown.isWanted(again), { instanceOf: StoreUnavailable });
});

test('A storage test counts for the payer of the project', async (t) => {
  const { stores, bind, test: start, probing } = await given();
  await start(await bind());
  t.deepEqual(await accountsOf(probing, stores), [userId]);
});
