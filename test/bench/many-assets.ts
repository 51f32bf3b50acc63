import { v4 } from 'uuid';
import { makeServiceClient, signedIn, textOf } from '../support/clients/service-client.js';
import { appendAssets } from '../support/given/append-assets.js';
import { viewsAtHead } from '../support/given/backups.js';
import { makeDirectory } from '../support/servers/embedded-directory.js';
import { startInProcess } from '../support/servers/service-in-process.js';
import { compare, type Comparison, median } from './measure.js';
import { serveUnlimited } from './serve.js';

const [few, many] = [100, 100_000];
const calls = 200;
const rounds = 5;
const password = 'Correct-Horse-9';

/** Measures what a project of 100,000 assets costs against one of 100: two services, asked alternately. */
export async function benchManyAssets(): Promise<readonly Comparison[]> {
  const [small, large] = [await givenProject(few), await givenProject(many)];
  try {
    return [
      await compare(
        {
          what: `p50 of upload-url in a project of ${many.toLocaleString('en')} assets`,
          anchor: `${few} assets`,
          unit: 'ms',
          goal: { atMost: 1.5 },
        },
        rounds,
        { ours: large.uploadUrl, anchor: small.uploadUrl },
      ),
      await compare(
        {
          what: `p50 of finding an asset by name among ${many.toLocaleString('en')}`,
          anchor: `${few} assets`,
          unit: 'ms',
          goal: null,
        },
        rounds,
        { ours: large.find, anchor: small.find },
      ),
    ];
  } finally {
    await small.end();
    await large.end();
  }
}

/** Starts a service with a project of so many assets. */
async function givenProject(assets: number) {
  const { directory, remove } = makeDirectory();
  const setUp = await startInProcess({ directory });
  const owner = makeServiceClient(setUp.url);
  const { headers } = await owner.register('ada@example.org', password);
  const project = textOf((await owner.post('/api/v1/projects', { name: 'Film' }, headers)).json(), 'id');
  const path = `/api/v1/projects/${project}`;
  await setUp.services.commands.grantEntitlement(
    { projectId: project, entitlement: 'allow_s3', source: 'operator' },
    { commandId: v4(), causationId: v4(), correlationId: v4(), actor: 'operator', time: new Date() },
  );
  const bucket = { name: 'Rushes', provider: 's3', bucket: 'rushes', region: 'eu-central-1' };
  const credentials = { access_key: 'AK', secret_key: 'SK' };
  const bound = await owner.post(`${path}/storages`, { ...bucket, credentials }, headers);
  const storageId = textOf(bound.json(), 'id');
  const facts = { name: 'Sought', object_key: 'a', media_type: 'video/mp4', size: 1, storage_id: storageId };
  const asset = textOf((await owner.post(`${path}/assets`, facts, headers)).json(), 'id');
  const added = { from: 0, until: assets - 1, project, storageId };
  await appendAssets(setUp.services.eventStore, added);
  await viewsAtHead(setUp);
  await setUp.close();

  const service = await serveUnlimited(directory);
  const client = makeServiceClient(service.url);
  // Another address of the service issues the tokens now.
  const login = await client.post('/api/v1/auth/login', { email: 'ada@example.org', password });
  const { headers: authorized } = signedIn(login.json());
  /** Returns the median of the time in ms. */
  const p50 = async (call: () => ReturnType<typeof client.get>): Promise<number> => {
    const times: number[] = [];
    for (let n = 0; n < calls; n += 1) {
      const began = performance.now();
      const reply = await call();
      if (reply.status !== 200) throw new Error(`the call was answered ${reply.status}: ${reply.text}`);
      times.push(performance.now() - began);
    }
    return median(times);
  };
  return {
    uploadUrl: () => p50(() => client.post(`${path}/assets/${asset}/upload-url`, {}, authorized)),
    find: () => p50(() => client.get(`${path}/assets?q=Sought`, authorized)),
    end: async (): Promise<void> => {
      await service.stop();
      remove();
    },
  };
}
