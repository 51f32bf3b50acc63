import test from 'ava';
import { eventually } from '../support/eventually.js';
import { type Fault, givenFakeStorage, type FakeOperation } from '../support/fakes/fake-storage.js';
import { givenStorageProject } from '../support/given/storage-project.js';
import { textOf } from '../support/clients/service-client.js';

const file = { name: 'Clip', object_key: 'clip.mp4', media_type: 'video/mp4', size: 4 };
const rendition = { kind: 'poster', object_key: 'clip.png', media_type: 'image/png', size: 1 };

test('An asset is removed with its objects, and a storage shows those that its bucket does not delete', async (t) => {
  // Given an asset with a rendition, whose objects the bucket holds
  const faults: Partial<Record<FakeOperation, Fault>> = {};
  const bucket = await givenFakeStorage(t, faults);
  const { path, get, send, bind } = await givenStorageProject(t);
  const storage = await bind({ endpoint: `http://127.0.0.1:${bucket.port}` });
  const add = async () => {
    const reply = await send('POST', `${path}/assets`, {
      ...{ ...file, storage_id: storage.split('/').at(-1) ?? '', renditions: [rendition] },
    });
    t.is(reply.status, 201, reply.text);
    return `${path}/assets/${textOf(reply.json(), 'id')}`;
  };
  const deletes = () => bucket.requests.filter((request) => request.startsWith('DELETE')).toSorted();
  const undeleted = async () => {
    const reply = await get(`${storage}/undeleted-objects`);
    t.is(reply.status, 200, reply.text);
    return reply.json()['items'] as { asset_id: string; objects: object[]; next_attempt_at: string | null }[];
  };

  // When it is removed with an unknown value, nothing happens
  const first = await add();
  t.is((await send('DELETE', `${first}?object=drop`)).status, 400);
  t.is((await get(first)).status, 200);

  // When it is removed with its objects, then the bucket gets the requests
  t.is((await send('DELETE', `${first}?object=delete`)).status, 204);
  t.is((await get(first)).status, 404);
  const all = ['DELETE /media/videos/clip.mp4', 'DELETE /media/videos/clip.png'];
  await eventually('both objects are deleted', () => deletes().length === 2);
  t.deepEqual(deletes(), all);
  await eventually('no object is undeleted', async () => (await undeleted()).length === 0);

  // When the key may not delete, then the storage shows it, and the keys stay taken
  faults.delete = { status: 403, body: '<Error><Code>AccessDenied</Code></Error>' };
  const second = await add();
  t.is((await send('DELETE', `${second}?object=delete`)).status, 204);
  const shown = await eventually('the storage shows the next attempt', async () =>
    (await undeleted()).find((one) => one.next_attempt_at !== null),
  );
  t.deepEqual(shown.objects, [
    { object_key: 'clip.mp4', cause: 'delete_denied', provider_code: 'AccessDenied' },
    { object_key: 'clip.png', cause: 'delete_denied', provider_code: 'AccessDenied' },
  ]);
  t.is(second.split('/').at(-1), shown.asset_id);
  const again = await send('POST', `${path}/assets`, {
    ...file,
    storage_id: storage.split('/').at(-1) ?? '',
  });
  t.is(again.status, 409);
  t.is(again.json()['code'], 'object_key_taken');
  t.is((await get(`${storage}/undeleted-objects?limit=x`)).status, 400);
});
