import test from 'ava';
import { makeShareCommands } from '../../../../src/areas/shares/commands/index.js';
import { assetAggregate } from '../../../../src/areas/assets/domain/asset/asset.js';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { shareAccessAggregate } from '../../../../src/areas/shares/domain/share-access/share-access.js';
import { shareAggregate } from '../../../../src/areas/shares/domain/share/share.js';
import { storageAggregate } from '../../../../src/areas/storages/domain/storage/storage.js';
import type { Aggregate } from '../../../../src/event-sourcing/deciding/command-handler.js';
import type { DomainEvent } from '../../../../src/event-sourcing/ports/domain-event.js';
import { CommandRejected, StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import { makeKeyring } from '../../../../src/keys/rings/keyring.js';
import { makeShareSessions } from '../../../../src/keys/codes/mac-tokens.js';
import type { ScryptInput } from '../../../../src/security/passwords/scrypt.js';
import { appendEvents } from '../../../support/given/append-events.js';
import { makeTestClock } from '../../../support/fakes/clock.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenAsset, givenShare, nextContext, sharePassword } from '../../../support/given/given-share.js';
import { type GivenStores, givenStores } from '../../../support/given/given-stores.js';
import { beforeCommands } from '../../../support/given/interrupted-stores.js';
import { logOf, typesOf } from '../../../support/given/log.js';
import { outcomeOf } from '../../../support/given/outcome-of.js';

const client = { ip: '198.51.100.7', known: null };
const hourMs = 3_600_000;
const onFailure = (): void => undefined;

interface Scene {
  readonly stores: GivenStores;
  readonly service: GivenStores & { readonly commands: ReturnType<typeof givenCommands> };
  /** The names of the calls of all three stores. */
  readonly calls: string[];
  readonly hashes: ScryptInput[];
}

async function given(): Promise<Scene> {
  const calls: string[] = [];
  const hashes: ScryptInput[] = [];
  const record = <Store extends object>(name: string, store: Store): Store =>
    new Proxy(store, {
      get: (target, method, receiver) => {
        const found: unknown = Reflect.get(target, method, receiver);
        if (typeof found !== 'function') return found;
        return (...parts: unknown[]): unknown => {
          calls.push(`${name} ${String(method)}`);
          return Reflect.apply(found, target, parts);
        };
      },
    });
  const made = await givenStores({
    clock: makeTestClock(),
    wrap: (store) => record('events', store),
    wrapDocuments: (store) => record('documents', store),
  });
  const stores = { ...made, stateStore: record('state', made.stateStore) };
  const commands = givenCommands(stores, { onHash: (input) => hashes.push(input) });
  return { stores, service: { ...stores, commands }, calls, hashes };
}

test('All causes for a share that does not open have the same words, store calls and hashing', async (t) => {
  // Given a share for each cause
  const { service, stores, calls, hashes } = await given();
  const { handler, clock } = stores;
  const soon = new Date(clock.now().getTime() + hourMs);
  const verify = (token: string) =>
    service.commands.verifyShare({ token, password: sharePassword, client }, nextContext(stores));
  const act = <State, Command, Event extends DomainEvent>(
    target: { readonly aggregate: Aggregate<State, Command, Event>; readonly id: string },
    event: NoInfer<Event>,
  ) => appendEvents(handler, target, [event], clock.now());
  const tokens: Record<string, string> = { unknown: 'x'.repeat(22), 'no token of ours': 'x/y' };
  const share = async (cause: string, terms: Parameters<typeof givenShare>[2] = {}) => {
    const asset = await givenAsset(service);
    const made = await givenShare(service, asset, terms);
    tokens[cause] = made.token;
    return { ...asset, shareId: made.id, token: made.token };
  };
  await share('expired', { expires_at: soon.toISOString() });
  await verify((await share('used up', { max_uses: 1 })).token);
  const revoked = await share('revoked');
  await service.commands.revokeShare(revoked, nextContext(stores));
  const nothing = {};
  const disabled = await share('storage disabled');
  const deleted = await share('storage deleted');
  const removed = await share('asset removed');
  const gone = await share('project deleted');
  await act(
    { aggregate: storageAggregate, id: disabled.storageId },
    { type: 'StorageDisabled', data: nothing },
  );
  await act(
    { aggregate: storageAggregate, id: deleted.storageId },
    { type: 'StorageDeleted', data: nothing },
  );
  await act(
    { aggregate: assetAggregate, id: removed.assetId },
    { type: 'AssetRemoved', data: { project_id: removed.projectId, bytes: 0 } },
  );
  await act({ aggregate: projectAggregate, id: gone.projectId }, { type: 'ProjectDeleted', data: nothing });
  clock.advance(hourMs);
  // When each is tried
  const seen = [];
  for (const [cause, token] of Object.entries(tokens)) {
    const before = await stores.eventStore.head();
    calls.length = hashes.length = 0;
    const error = await t.throwsAsync(() => verify(token), { instanceOf: CommandRejected }, cause);
    const made = calls.join(', ');
    const work = hashes.map(({ N, r, p, length }) => [N, r, p, length]);
    seen.push({ code: String(error.code), message: error.message, calls: made, work });
    t.deepEqual(await stores.eventStore.head(), before, `${cause} appends nothing`);
  }
  // Then all replies are like the first
  t.is(seen.length, 9);
  t.like(seen[0], { code: 'share_not_found', message: 'the share does not exist' });
  t.is(seen[0]?.work.length, 1);
  for (const [index, one] of seen.entries()) t.deepEqual(one, seen[0], Object.keys(tokens)[index]);
});

test('The reaction records a use that was counted before a crash, once', async (t) => {
  // Given a process that ends between counting and recording
  const { service, stores } = await given();
  const asset = await givenAsset(service);
  const { id: shareId, token } = await givenShare(service, asset, { max_uses: 3 });
  let ends = true;
  const end = () => Promise.reject(new StoreUnavailable('ended'));
  const { handler } = beforeCommands(stores, (category) =>
    ends && category === shareAccessAggregate.category ? end() : undefined,
  );
  const { recordCountedAccesses: reaction, verifyShare } = makeShareCommands({
    ...stores,
    ...{ ...service.commands, background: service.commands.background, onFailure },
    handler,
    sharePasswords: service.commands.passwords,
    shareSessions: makeShareSessions(makeKeyring([{ kid: 'r1', key: Buffer.alloc(32, 5) }])),
  });
  const context = nextContext(stores);
  const input = { token, password: sharePassword, client };
  await t.throwsAsync(() => verifyShare(input, context), { instanceOf: StoreUnavailable });
  ends = false;
  const [used] = (await stores.eventStore.read(`share-${shareId}`, { from: 0n, limit: 10 })).filter(
    ({ type }) => type === 'ShareUsed',
  );
  if (used === undefined) throw new Error('no use was counted');
  const event = { ...shareAggregate.codec.decode(used), position: '1' } as Parameters<
    typeof reaction.asks
  >[0];
  const { access_id: accessId } = event.data;
  // When the reaction handles the use, it first leaves time to the process that counted it
  t.is(await reaction.asks(event), 'not-yet');
  stores.clock.advance(15_000);
  t.is(await reaction.asks(event), 'yes');
  // A use that was counted while the clock was a year ahead waits for no year.
  stores.clock.advance(-365 * 86_400_000);
  t.is(await reaction.asks(event), 'yes');
  stores.clock.advance(365 * 86_400_000);
  await reaction.conclude(event, nextContext(stores), undefined);
  // Then the access is recorded with the known values, and the repeated request adds nothing
  t.is(await reaction.asks(event), 'no');
  const opened = await verifyShare(input, context);
  t.is(opened.remaining_uses, 2);
  const stream = await stores.eventStore.read(`shareaccess-${accessId}`, { from: 0n, limit: 10 });
  t.deepEqual(
    stream.map(({ type, data }) => ({ type, data })),
    [
      {
        type: 'ShareVerified',
        data: { share_id: shareId, project_id: asset.projectId, client_ip_digest: null },
      },
    ],
  );
});

/** Given a share, and a function that opens it while something else happens during the check of the password. */
async function givenSlowCheck(terms: Parameters<typeof givenShare>[2]) {
  const { service, stores } = await given();
  const asset = await givenAsset(service);
  const { id: shareId, token } = await givenShare(service, asset, terms);
  const { commands } = service;
  let meanwhile: () => Promise<unknown> = () => Promise.resolve();
  const { verifyShare } = makeShareCommands({
    ...stores,
    ...commands,
    sharePasswords: {
      ...commands.passwords,
      verify: async (password, stored) => {
        const verdict = await commands.passwords.verify(password, stored);
        await meanwhile();
        return verdict;
      },
    },
    onFailure,
    shareSessions: makeShareSessions(makeKeyring([{ kid: 'r1', key: Buffer.alloc(32, 5) }])),
  });
  const input = { token, password: sharePassword, client };
  return {
    ...{ stores, commands, input, address: { ...asset, shareId } },
    verifyWhile: async (event: () => Promise<unknown>) => {
      meanwhile = event;
      return verifyShare(input, nextContext(stores));
    },
    recorded: async () => {
      const types = typesOf(await logOf(stores));
      return types.filter((type) => type === 'ShareUsed' || type === 'ShareVerified').length;
    },
  };
}

for (const max_uses of [1, null]) {
  const limited = max_uses === null ? 'of any number of uses' : 'of one use';

  test(`A password that changes during its check opens nothing and counts nothing, for a share ${limited}`, async (t) => {
    const { stores, commands, input, address, verifyWhile, recorded } = await givenSlowCheck({ max_uses });
    const changes = { password: 'another one' };
    const change = () => commands.changeShare({ ...address, changes }, nextContext(stores));
    t.is(await outcomeOf(verifyWhile(change)), 'share_password_wrong');
    t.is(await recorded(), 0);
    const now = { ...input, password: 'another one' };
    const opened = await commands.verifyShare(now, nextContext(stores));
    t.is(opened.remaining_uses, max_uses === null ? null : 0);
  });

  test(`A share ${limited} that is revoked or expires during the check of its password does not open`, async (t) => {
    for (const happens of ['revoked', 'expired'] as const) {
      const scene = await givenSlowCheck({ max_uses, expires_at: '2026-01-03T00:00:00.000Z' });
      const { stores, commands, address, verifyWhile, recorded } = scene;
      const event = async (): Promise<void> => {
        if (happens === 'expired') stores.clock.advance(24 * hourMs);
        else await commands.revokeShare(address, nextContext(stores));
      };
      t.is(await outcomeOf(verifyWhile(event)), 'share_not_found', happens);
      t.is(await recorded(), 0);
    }
  });

  test(`A share ${limited} opens with its terms after the check`, async (t) => {
    const { stores, commands, address, verifyWhile, recorded } = await givenSlowCheck({ max_uses });
    const changes = { max_uses: max_uses === null ? 3 : null };
    const opened = await verifyWhile(() =>
      commands.changeShare({ ...address, changes }, nextContext(stores)),
    );
    t.is(opened.remaining_uses, max_uses === null ? 2 : null);
    t.is(await recorded(), max_uses === null ? 2 : 1);
  });
}

test('A password whose pepper is missing is neither right nor wrong, and no attempt is counted', async (t) => {
  // Given a share whose password was hashed with a pepper that another process lacks
  const { service, stores } = await given();
  const asset = await givenAsset(service);
  const { id: shareId, token } = await givenShare(service, asset, { max_uses: 3 });
  const without = givenCommands(stores, { peppers: ['p2'] });
  const tries = ['right', ...Array<string>(9).fill('wrong')].map((what) =>
    what === 'right' ? sharePassword : 'a guess',
  );
  // When clients try it there more often than a limit of wrong passwords allows
  for (const password of tries) {
    const refused = without.verifyShare({ token, password, client }, nextContext(stores));
    t.is(await outcomeOf(refused), 'password_not_checkable');
  }
  // Then an operator learns which key is missing, and the first process opens the share as before
  t.is(without.failures.length, 10);
  t.regex(String(without.failures[0]), /pepper p1 is not in PEPPERS/);
  const verified = await service.commands.verifyShare(
    { token, password: sharePassword, client },
    nextContext(stores),
  );
  t.is(verified.remaining_uses, 2);
  // and a password that is set again opens it in every process
  const address = { projectId: asset.projectId, shareId };
  await without.changeShare({ ...address, changes: { password: 'sesame, open' } }, nextContext(stores));
  const again = { token, password: 'sesame, open', client };
  t.is((await without.verifyShare(again, nextContext(stores))).remaining_uses, 1);
});

test('An attempt without room for a hash is refused before anything is written', async (t) => {
  const { service, stores, calls } = await given();
  const { token } = await givenShare(service, await givenAsset(service));
  const full = givenCommands(stores, { hasRoom: () => false });
  calls.length = 0;
  const refused = full.verifyShare({ token, password: sharePassword, client }, nextContext(stores));
  t.is(await outcomeOf(refused), 'TooManyAttempts');
  t.deepEqual(
    calls.filter((call) => call === 'state compareAndSet'),
    [],
  );
});
