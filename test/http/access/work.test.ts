import test, { type ExecutionContext } from 'ava';
import { defaultLimits } from '../../../src/security/rates/limits.js';
import type { RateLimit } from '../../../src/security/rates/rate-limit.js';
import type { Answer } from '../../support/clients/http-app.js';
import { addAsset } from '../../support/given/given-share.js';
import { startTestService } from '../../support/servers/http-service.js';

/* Limits of work: src/http/access/README.md#work. The stores are in memory, and count as those of the service do. */

const plenty = { limit: 1_000_000, seconds: 60 };
const storage = {
  ...{ name: 'Media', provider: 's3', bucket: 'rivers', region: 'eu-west-1' },
  credentials: { access_key: 'a-key', secret_key: 'a-secret' },
};
const idOf = ({ json }: Answer): string => (json as { id: string }).id;
const sentence = ({ json }: Answer): string => (json as { message: string }).message;

/** Given a project of an owner with an editor, and 20 assets: a list of them costs 23. */
async function given(t: ExecutionContext, rates: Parameters<typeof startTestService>[1] = {}) {
  const service = await startTestService(t, { trustedProxies: ['127.0.0.1'], ...rates });
  const [owner, editor] = [await service.signUp('owner'), await service.signUp('editor')];
  const project = await service.makeProject(owner);
  const at = `/api/v1/projects/${project}`;
  const storageId = idOf(await service.post(`${at}/storages`, storage, owner));
  const assets: string[] = [];
  for (let n = 0; n < 20; n += 1) {
    const file = { name: 'a', object_key: `${n}.png`, media_type: 'image/png', size: 1, renditions: [] };
    assets.push(await addAsset(service.stores, { projectId: project, storageId }, file));
  }
  await service.verify('owner');
  await service.verify('editor');
  t.is(
    (await service.post(`${at}/members`, { email: 'editor@example.com', role: 'editor' }, owner)).status,
    201,
  );
  const list = (headers: Readonly<Record<string, string>>, query = '') =>
    service.get(`${at}/assets${query}`, headers);
  /** Repeats a request until it is refused, and returns how often it was not. */
  const untilRefused = async (ask: () => Promise<Answer>): Promise<number> => {
    for (let count = 0; count < 100; count += 1) {
      const answer = await ask();
      if (answer.status === 429) return count;
      t.true(answer.status < 300, answer.text);
    }
    throw new Error('no request was refused');
  };
  return { ...service, ...{ owner, editor, project, at, assets, list, untilRefused } };
}

test('A user who has read as much as work_user allows waits as Retry-After says, and others do not', async (t) => {
  const rates = { work_user: { limit: 230, seconds: 60 }, work_project: plenty };
  const { clock, owner, editor, get, list, untilRefused } = await given(t, { rates });
  clock.advance(120_000);
  // A list of one asset costs session, user, project and two documents; one that finds nothing costs all that it examined
  t.is(await untilRefused(() => list(owner)), 10);
  const refused = await get('/api/v1/auth/me', owner);
  t.is(refused.status, 429);
  t.like(refused.json, { code: 'rate_limited' });
  t.is(sentence(refused), 'the requests of this user or client have read too much; wait and try again');
  t.is(refused.headers.get('ratelimit-limit'), null);
  t.is((await list(editor)).status, 200);
  clock.advance(Number(refused.headers.get('retry-after')) * 1_000);
  t.is((await get('/api/v1/auth/me', owner)).status, 200);
  clock.advance(120_000);
  t.is(await untilRefused(() => list(owner, '?q=nothing&sort=size')), 10);
  clock.advance(120_000);
  t.is(await untilRefused(() => list(owner, '?limit=1')), 46);
});

test('One member gets half of work_project, with own API keys, and all together the whole', async (t) => {
  const rates = { work_user: plenty, work_project: { limit: 460, seconds: 60 } };
  const { clock, owner, editor, at, post, get, list, untilRefused } = await given(t, { rates });
  const key = async () => {
    const body = { name: 'k', scopes: ['asset:read'], expires_at: '2026-02-01T00:00:00Z' };
    const answer = await post(`${at}/api-keys`, body, owner);
    t.is(answer.status, 201, answer.text);
    return { 'x-api-key': (answer.json as { key: string }).key };
  };
  const keys = [await key(), await key()];
  clock.advance(120_000);
  t.is(await untilRefused(() => list(owner)), 10);
  for (const mine of keys) {
    const refused = await list(mine);
    t.is(refused.status, 429);
    t.is(sentence(refused), 'the requests for this project have read too much; wait and try again');
  }
  t.is(await untilRefused(() => list(editor)), 10);
  t.is((await get('/api/v1/auth/me', owner)).status, 200);

  // A key is charged to its issuer
  clock.advance(120_000);
  t.is(await untilRefused(() => list(keys[0] ?? {})), 11);
  t.is((await list(owner)).status, 429);
  // A stranger is charged nothing in the project
  t.is(await untilRefused(() => list(editor)), 10);
});

test('Visitors are charged to their client, and never to the project, and a sign-in is not charged', async (t) => {
  const rates = {
    ...{ work_user: { limit: 46, seconds: 60 }, work_project: { limit: 92, seconds: 60 } },
    ...{ share_describe: plenty, login: plenty },
  };
  const { clock, owner, at, assets, post, get, list, signUp, untilRefused } = await given(t, { rates });
  clock.advance(120_000);
  const made = await post(`${at}/shares`, { asset_id: assets[0], password: 'open sesame' }, owner);
  const { token } = made.json as { token: string };
  const visit = (address: string) => get(`/api/v1/shares/${token}`, { 'x-forwarded-for': address });
  clock.advance(120_000);
  const visits = await untilRefused(() => visit('198.51.100.1'));
  t.true(visits > 5);
  t.is((await get(`/s/${token}`, { 'x-forwarded-for': '198.51.100.1' })).status, 429);
  t.is((await visit('198.51.100.2')).status, 200);
  t.is((await list(owner)).status, 200);
  // The other people behind the address sign in
  const credentials = { email: 'owner@example.com', password: 'Correct-Horse-7' };
  const neighbour = await post('/api/v1/auth/login', credentials, { 'x-forwarded-for': '198.51.100.1' });
  t.is(neighbour.status, 200, neighbour.text);
  t.truthy(await signUp('another'));
});

// A fortieth of 10,000 objects, ten reads of 200 a second and the default limits. test/deep/import-beside-reads.test.ts runs the whole.
test('Within the defaults, an import of 10,000 objects beside ten reads a second meets no limit', async (t) => {
  const objects = Array.from({ length: 250 }, (_, index) => {
    const key = `${String(index).padStart(5, '0')}.mp4`;
    return { text: key, readings: [key], isSure: true, size: 1, entity_tag: 'a-tag' };
  });
  const buckets: NonNullable<Parameters<typeof startTestService>[1]>['buckets'] = {
    listObjects: ({ token, limit }) => {
      const end = Number(token) + limit;
      const next = end < objects.length ? String(end) : null;
      return Promise.resolve({ kind: 'listed', objects: objects.slice(Number(token), end), next });
    },
  };
  const fortieth = ({ limit, seconds }: RateLimit) => ({ limit: limit / 40, seconds });
  const { work_user, work_project } = defaultLimits;
  const rates = { work_user: fortieth(work_user), work_project: fortieth(work_project) };
  const { clock, owner, at, post, list } = await given(t, { buckets, rates });
  const storage_id = idOf(await post(`${at}/storages`, { ...storage, name: 'Import' }, owner));
  let [added, cursor]: [number, string | null] = [0, null];
  do {
    const page: object = { storage_id, limit: 5, ...(cursor === null ? {} : { cursor }) };
    const answer = await post(`${at}/assets/import`, page, owner);
    t.is(answer.status, 200, answer.text);
    const reply = answer.json as { added: readonly unknown[]; next_cursor: string | null };
    added += reply.added.length;
    cursor = reply.next_cursor;
    t.is((await list(owner, '?limit=50')).status, 200);
    clock.advance(1_000);
  } while (cursor !== null);
  t.is(added, 250);
});
