import test from 'ava';
import { makeShareEndings } from '../../../../src/areas/shares/commands/ending.js';
import { makeSharing } from '../../../../src/areas/shares/commands/sharing.js';
import type { AnyReaction } from '../../../../src/event-sourcing/effects/reaction.js';
import { assetAggregate } from '../../../../src/areas/assets/domain/asset/asset.js';
import { shareAggregate } from '../../../../src/areas/shares/domain/share/share.js';
import { storageAggregate } from '../../../../src/areas/storages/domain/storage/storage.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { addAsset, givenAsset, givenShare, nextContext } from '../../../support/given/given-share.js';
import { freeTerms, shareCreated } from '../../../support/examples/share.js';
import { givenStores } from '../../../support/given/given-stores.js';
import { serve } from '../../../support/given/log.js';
import { outcomeOf } from '../../../support/given/outcome-of.js';

async function given() {
  const stores = await givenStores();
  const commands = givenCommands(stores);
  const service = { ...stores, commands };
  const place = await givenAsset(service);
  const share = await givenShare(service, place);
  return {
    ...{ stores, commands, service, place, share },
    endings: makeShareEndings({ ...stores, ...commands, sharesShown: () => true }),
    /** Destroys the key of a share, as the reaction to its revocation does. */
    destroyKey: (shareId: string) =>
      stores.sealer.destroy({ kind: 'share', projectId: place.projectId, shareId }),
    shareStatus: async (id: string) => (await stores.handler.load(shareAggregate, id)).state.status,
    /** Runs a reaction over the present log. */
    serve: (reaction: AnyReaction) => serve(stores, reaction),
  };
}

test('The shares of a removed asset are revoked, and no others', async (t) => {
  const { service, commands, place, share, endings, serve, shareStatus } = await given();
  const other = await addAsset(service, place);
  const kept = await givenShare(service, { ...place, assetId: other });
  await commands.removeAsset(place, nextContext(service));
  await serve(endings.revokeAssetShares);
  await serve(endings.revokeLateShares);
  t.is(await shareStatus(share.id), 'revoked');
  t.is(await shareStatus(kept.id), 'open');
  t.is(await commands.shares.find(place.projectId, share.id), null);
});

test('A share that was decided before the removal of its asset and appended after it is revoked', async (t) => {
  const { stores, service, commands, place, endings, serve, shareStatus } = await given();
  // Given a removed asset, and a reaction that has handled the log
  await commands.removeAsset(place, nextContext(service));
  await serve(endings.revokeAssetShares);
  // When the late append comes
  const share = await givenShare(service, { ...place, assetId: await addAsset(service, place) });
  const late = { aggregate: shareAggregate, id: '019b7d00-0000-7000-8000-00000000f001' };
  const created = { ...shareCreated.data, project_id: place.projectId, asset_ids: [place.assetId] };
  await stores.handler.handle(late, { type: 'Create', share: created }, nextContext(service));
  await serve(endings.revokeLateShares);
  // Then only the late share is revoked
  t.is(await shareStatus(late.id), 'revoked');
  t.is(await shareStatus(share.id), 'open');
});

test('All shares of a deleted project are revoked, also hundreds of them', async (t) => {
  const { service, commands, place, endings, serve, shareStatus } = await given();
  const ids: string[] = [];
  for (let n = 0; n < 250; n += 1) ids.push((await givenShare(service, place)).id);
  await commands.deleteProject(place, nextContext(service));
  await serve(endings.revokeProjectShares);
  t.deepEqual(new Set(await Promise.all(ids.map(shareStatus))), new Set(['revoked']));
});

test('A new password for a share that is being revoked is refused like one for a revoked share', async (t) => {
  const { stores, service, commands, place, share, destroyKey } = await given();
  const address = { projectId: place.projectId, shareId: share.id };
  const { changeShare } = makeSharing({
    ...{ ...stores, ...commands },
    sharePasswords: commands.passwords,
    handler: {
      ...stores.handler,
      load: async (aggregate, id) => {
        const loaded = await stores.handler.load(aggregate, id);
        // Given a revocation right after the read
        await commands.revokeShare(address, nextContext(service));
        await destroyKey(share.id);
        return loaded;
      },
    },
  });
  const changed = changeShare({ ...address, changes: { password: 'open again' } }, nextContext(service));
  t.is(await outcomeOf(changed), 'share_not_found');
});

test('A share whose creation is repeated after its revocation stays revoked', async (t) => {
  const { service, commands, place, destroyKey, shareStatus } = await given();
  const { projectId, assetId } = place;
  const shared = { asset_ids: [assetId], tag: null, created_by: null };
  const input = { projectId, ...shared, ...freeTerms, password: 'open sesame' };
  const context = nextContext(service);
  const created = await commands.createShare(input, context);
  const again = () => outcomeOf(commands.createShare(input, context));
  await commands.revokeShare({ ...place, shareId: created.resource.id }, nextContext(service));
  t.is(await again(), 'removed_since');
  await destroyKey(created.resource.id);
  t.is(await again(), 'removed_since');
  t.is(await shareStatus(created.resource.id), 'revoked');
});

test('Storages and shares of an existing project and asset stay', async (t) => {
  const { stores, service, commands, place, share, endings, serve, shareStatus } = await given();
  await commands.deleteOrphanedStorages.ifOrphaned(place, nextContext(service));
  await serve(endings.revokeLateShares);
  t.is((await stores.handler.load(storageAggregate, place.storageId)).state.status, 'pending');
  t.is((await stores.handler.load(assetAggregate, place.assetId)).state.status, 'existing');
  t.is(await shareStatus(share.id), 'open');
});
