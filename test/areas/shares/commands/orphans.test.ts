import test from 'ava';
import { makeChangeShare } from '../../../../src/areas/shares/commands/change-share.js';
import { CommandRejected } from '../../../../src/event-sourcing/ports/errors.js';
import { type AnyReaction, contextFor, eventFor } from '../../../../src/event-sourcing/effects/reaction.js';
import { assetAggregate } from '../../../../src/areas/assets/domain/asset/asset.js';
import { shareAggregate } from '../../../../src/areas/shares/domain/share/share.js';
import { storageAggregate } from '../../../../src/areas/storages/domain/storage/storage.js';
import {
  makeRevokeAssetShares,
  makeRevokeLateShares,
  makeRevokeProjectShares,
} from '../../../../src/areas/shares/commands/revoke-orphaned-shares-reaction.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import {
  addAsset,
  givenAsset,
  givenShare,
  nextContext,
  plainTerms,
} from '../../../support/given/given-share.js';
import { givenStores } from '../../../support/given/given-stores.js';

async function given() {
  const stores = await givenStores();
  const commands = givenCommands(stores);
  const service = { ...stores, commands };
  const place = await givenAsset(service);
  const share = await givenShare(service, place);
  return {
    ...{ stores, commands, service, place, share },
    shareStatus: async (id: string) => (await stores.handler.load(shareAggregate, id)).state.status,
    /** Runs a reaction over the present log. */
    serve: async (reaction: AnyReaction) => {
      for (const stored of (await stores.eventStore.readAll({ after: null, limit: 500 })).events) {
        const event = eventFor(reaction, stored);
        if (event === null || (await reaction.asks(event)) !== 'yes') continue;
        await reaction.conclude(event, contextFor(reaction, event), undefined);
      }
    },
  };
}

const sharesShown = () => true;

test('The shares of a removed asset are revoked, and no others', async (t) => {
  const { service, commands, place, share, serve, shareStatus } = await given();
  const other = await addAsset(service, place);
  const kept = await givenShare(service, { ...place, assetId: other });
  await commands.removeAsset(place, nextContext(service));
  await serve(makeRevokeAssetShares({ ...commands, sharesShown }));
  await serve(makeRevokeLateShares(commands));
  t.is(await shareStatus(share.id), 'revoked');
  t.is(await shareStatus(kept.id), 'open');
  t.is(await commands.shares.find(place.projectId, share.id), null);
});

test('A share that was decided before the removal of its asset and appended after it is revoked', async (t) => {
  const { stores, service, commands, place, serve, shareStatus } = await given();
  // Given a removed asset, and a reaction that has handled the log
  await commands.removeAsset(place, nextContext(service));
  await serve(makeRevokeAssetShares({ ...commands, sharesShown }));
  // When the late append comes
  const share = await givenShare(service, { ...place, assetId: await addAsset(service, place) });
  const { state } = await stores.handler.load(shareAggregate, share.id);
  if (state.status !== 'open') throw new Error('the share was not created');
  const late = { aggregate: shareAggregate, id: '019b7d00-0000-7000-8000-00000000f001' };
  const { assetId } = place;
  const create = { ...state, ...plainTerms, createdBy: null, type: 'Create', assetIds: [assetId] } as const;
  await stores.handler.handle(late, create, nextContext(service));
  await serve(makeRevokeLateShares(commands));
  // Then only the late share is revoked
  t.is(await shareStatus(late.id), 'revoked');
  t.is(await shareStatus(share.id), 'open');
});

test('All shares of a deleted project are revoked, also hundreds of them', async (t) => {
  const { service, commands, place, serve, shareStatus } = await given();
  const ids: string[] = [];
  for (let n = 0; n < 250; n += 1) ids.push((await givenShare(service, place)).id);
  await commands.deleteProject(place, nextContext(service));
  await serve(makeRevokeProjectShares({ ...commands, sharesShown }));
  t.deepEqual(new Set(await Promise.all(ids.map(shareStatus))), new Set(['revoked']));
});

test('A new password for a share that is being revoked is refused like one for a revoked share', async (t) => {
  const { stores, service, commands, place, share } = await given();
  const address = { projectId: place.projectId, shareId: share.id };
  const changeShare = makeChangeShare({
    ...stores,
    requireOpenShares: () => Promise.resolve(),
    shares: commands.shares,
    sharePasswords: commands.passwords,
    handler: {
      ...stores.handler,
      load: async (aggregate, id) => {
        const loaded = await stores.handler.load(aggregate, id);
        // Given a revocation right after the read
        await commands.revokeShare(address, nextContext(service));
        await commands.destroyShareKey(share.id);
        return loaded;
      },
    },
  });
  const changed = changeShare({ ...address, changes: { password: 'open again' } }, nextContext(service));
  const error = await t.throwsAsync(changed, { instanceOf: CommandRejected });
  t.is(error.code, 'share_not_found');
});

test('A share whose creation is repeated after its revocation stays revoked', async (t) => {
  const { service, commands, place, shareStatus } = await given();
  const { projectId, assetId } = place;
  const input = { projectId, assetIds: [assetId], ...plainTerms, createdBy: null, password: 'open sesame' };
  const context = nextContext(service);
  const created = await commands.createShare(input, context);
  const again = (): Promise<unknown> =>
    commands.createShare(input, context).then(
      () => 'created',
      (error: unknown) => (error instanceof CommandRejected ? String(error.code) : error),
    );
  await commands.revokeShare({ ...place, shareId: created.resource.id }, nextContext(service));
  t.is(await again(), 'share_not_found');
  await commands.destroyShareKey(created.resource.id);
  t.is(await again(), 'share_not_found');
  t.is(await shareStatus(created.resource.id), 'revoked');
});

test('Storages and shares of an existing project and asset stay', async (t) => {
  const { stores, service, commands, place, share, shareStatus } = await given();
  const { deleteOrphanedStorages, revokeOrphanedShares } = commands;
  await deleteOrphanedStorages.ifOrphaned(place, nextContext(service));
  await revokeOrphanedShares.ifOrphaned(share.id, nextContext(service));
  t.is((await stores.handler.load(storageAggregate, place.storageId)).state.status, 'pending');
  t.is((await stores.handler.load(assetAggregate, place.assetId)).state.status, 'existing');
  t.is(await shareStatus(share.id), 'open');
});
