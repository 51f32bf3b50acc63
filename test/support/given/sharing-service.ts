import type { ExecutionContext } from 'ava';
import type { Answer } from '../clients/http-app.js';
import { storageRequest } from '../clients/service-client.js';
import { startTestService } from '../servers/http-service.js';
import { addAsset, sharePassword as password } from './given-share.js';
import { logOf } from './log.js';
import { fieldOf } from './replies.js';

type Headers = Readonly<Record<string, string>>;

/** Starts a service with a project that has a storage, and gives the calls of its owner and of visitors. */
export async function givenSharing(
  t: ExecutionContext,
  overrides: Parameters<typeof startTestService>[1] = {},
) {
  const service = await startTestService(t, { trustedProxies: ['127.0.0.1'], ...overrides });
  const { ask, post, stores } = service;
  const owner = await service.signUp('owner');
  const project = await service.makeProject(owner);
  const base = `/api/v1/projects/${project}`;
  const bind = async (by: Headers, path: string) =>
    fieldOf(await post(`${path}/storages`, storageRequest('Rushes'), by), 'id');
  const place = { projectId: project, storageId: await bind(owner, base) };
  return {
    ...{ service, owner, project, base, bind, storageId: place.storageId, shares: `${base}/shares` },
    /** Adds an image whose upload is complete. */
    add: (name: string, tags: readonly string[] = [], to = place): Promise<string> => {
      const file = {
        name,
        object_key: `2026/${name}`,
        media_type: 'image/png',
        size: 7,
        renditions: [],
        tags,
      };
      return addAsset(stores, to, file);
    },
    /** Asks for a share with a password. */
    ask: (fields: object): Promise<Answer> => post(`${base}/shares`, { password, ...fields }, owner),
    /** Makes a share with a password. */
    share: async (fields: object): Promise<{ readonly id: string; readonly token: string }> => {
      const made = await post(`${base}/shares`, { password, ...fields }, owner);
      t.is(made.status, 201, made.text);
      return made.json as { id: string; token: string };
    },
    change: (path: string, json: unknown, headers: Headers = {}): Promise<Answer> =>
      ask(path, { method: 'PATCH', json, headers: { ...owner, ...headers } }),
    remove: (path: string): Promise<Answer> => ask(path, { method: 'DELETE', headers: owner }),
    verify: (token: string, tried: string | null = password, headers: Headers = {}): Promise<Answer> =>
      post(`/api/v1/shares/${token}/verify`, { password: tried }, headers),
    renew: (token: string, share_session: string, more: object = {}): Promise<Answer> =>
      post(`/api/v1/shares/${token}/media`, { share_session, ...more }),
    /** Returns the events of a type. */
    events: async (type: string) => (await logOf(stores)).filter((event) => event.type === type),
  };
}
