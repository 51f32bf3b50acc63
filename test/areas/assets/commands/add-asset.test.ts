import test from 'ava';
import { givenCommands } from '../../../support/given/given-commands.js';
import { outcomeOf } from '../../../support/given/outcome-of.js';
import { givenAsset, nextContext } from '../../../support/given/given-share.js';
import { givenStores } from '../../../support/given/given-stores.js';

test('A repeated creation of an asset that was removed since is refused, and restores nothing', async (t) => {
  const stores = await givenStores();
  const commands = givenCommands(stores);
  const { projectId, storageId } = await givenAsset({ ...stores, commands });
  const facts = { name: 'Rhine', media_type: 'image/png', size: 0, renditions: [] };
  const [input, context] = [{ projectId, storageId, ...facts }, nextContext(stores)];
  const { resource } = await commands.addAsset(input, context);
  const place = { projectId, assetId: resource.id };
  await commands.removeAsset(place, nextContext(stores));
  t.is(await outcomeOf(commands.addAsset(input, context)), 'removed_since');
  t.is(await outcomeOf(commands.removeAsset(place, nextContext(stores))), 'asset_not_found');
});
