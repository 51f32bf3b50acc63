import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { defaultLimits } from '../../src/security/rates/limits.js';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { makeServiceClient, textOf } from '../support/clients/service-client.js';
import { givenFakeStorage } from '../support/fakes/fake-storage.js';
import { givenInProcess, grantStorageIn } from '../support/servers/service-in-process.js';

const count = 10_000;

test('An import of 10,000 objects page by page, beside ten reads a second, meets no limit', async (t) => {
  t.timeout(1_800_000);
  // Given a bucket with 10,000 objects, and a service with the default limits
  const bucket = await givenFakeStorage(t);
  const objects = bucket.objects as Map<string, { body: Buffer; type: string }>;
  for (let n = 0; n < count; n += 1) {
    objects.set(`/media/${String(n).padStart(5, '0')}.mp4`, { body: Buffer.from('a'), type: 'video/mp4' });
  }
  const environment = { STORAGE_ALLOWED_CIDRS: '127.0.0.0/8' };
  const service = await givenInProcess(t, { environment, limits: defaultLimits });
  const client = makeServiceClient(service.url);
  const { headers } = await client.register('ada@example.org', 'Correct-Horse-9');
  const projectId = await client.makeProject(headers);
  await grantStorageIn(service, projectId);
  const at = `/api/v1/projects/${projectId}`;
  const storage = {
    ...{ name: 'Media', provider: 's3', bucket: 'media', region: 'eu-central-1' },
    ...{ endpoint: `http://127.0.0.1:${bucket.port}` },
    credentials: { access_key: 'AK', secret_key: 'SK' },
  };
  const storage_id = textOf((await client.post(`${at}/storages`, storage, headers)).json(), 'id');

  // When it is imported page by page, beside ten reads of 200 assets a second
  let isOver = false;
  const reading = async (): Promise<number> => {
    let reads = 0;
    for (; !isOver; reads += 1) {
      const began = performance.now();
      const { status, text } = await client.get(`${at}/assets?limit=200`, headers);
      if (status !== 200) throw new Error(`a read was answered ${status}: ${text}`);
      await wait(Math.max(0, 100 - (performance.now() - began)));
    }
    return reads;
  };
  const importing = async (): Promise<number> => {
    let [added, cursor]: [number, string | null] = [0, null];
    try {
      do {
        const page: JsonObject = { storage_id, limit: 200, ...(cursor === null ? {} : { cursor }) };
        const reply = await client.post(`${at}/assets/import`, page, headers);
        if (reply.status !== 200) throw new Error(`a page was answered ${reply.status}: ${reply.text}`);
        const { added: found, next_cursor } = reply.json();
        added += (found as readonly unknown[]).length;
        cursor = next_cursor as string | null;
      } while (cursor !== null);
      return added;
    } finally {
      isOver = true;
    }
  };
  const [added, reads] = await Promise.all([importing(), reading()]);

  // Then each object is an asset, and no request was refused
  t.is(added, count);
  t.true(reads > 0);
});
