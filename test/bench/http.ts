import {
  addNode,
  grantStorage,
  makeServiceClient,
  storageRequest,
  textOf,
} from '../support/clients/service-client.js';
import { load } from './load.js';
import { password } from './logins.js';
import { compare, type Comparison } from './measure.js';
import { withServe } from './with-serve.js';

// The number is odd for the median, and high because the figures vary by a tenth between rounds.
const rounds = 7;
const nodes = 20;
const agentSecret = 'bench-agent-secret';

/**
 * Compares reads of the first path with a bare route with the same listener, request-id and log, over keep-alive
 * connections. `npm run bench peers` has the writes.
 */
export function benchHttp(): Promise<readonly Comparison[]> {
  return withServe({ NODE_AGENT_SECRET: agentSecret }, async ({ url, directory }, anchors) => {
    const client = makeServiceClient(url);
    const { headers: session } = await client.register('bench@example.org', password);
    const project = textOf((await client.post('/api/v1/projects', { name: 'Film' }, session)).json(), 'id');
    await grantStorage(directory, project);
    const path = `/api/v1/projects/${project}/storages`;
    const storage = textOf((await client.post(path, storageRequest('Rushes'), session)).json(), 'id');
    for (let n = 1; n <= nodes; n += 1) await addNode(directory, `edge-${n}`, `192.0.2.${n}`);
    const headers = { ...session };
    const agent = { 'x-agent-secret': agentSecret };
    const storageUrl = `${url}${path}/${storage}`;
    const peersUrl = `${url}/api/v1/internal/peer-list`;
    const peers = await fetch(peersUrl, { headers: agent });
    const peersSize = (await peers.text()).length;
    const storageSize = (await (await fetch(storageUrl, { headers })).text()).length;
    const unchanged = { ...agent, 'if-none-match': peers.headers.get('etag') ?? '' };
    const subject = { unit: 'requests/s', anchor: 'anchor' };
    const anchorOf = (size: number) => (): Promise<number> => load({ url: `${anchors.anchor}/${size}` });
    return [
      await compare({ ...subject, what: 'GET a storage', goal: { atLeast: 0.5 } }, rounds, {
        ours: () => load({ url: storageUrl, headers }),
        anchor: anchorOf(storageSize),
      }),
      await compare(
        { ...subject, what: `GET the peer list of ${nodes} nodes`, goal: { atLeast: 0.8 } },
        rounds,
        {
          ours: () => load({ url: peersUrl, headers: agent }),
          anchor: anchorOf(peersSize),
        },
      ),
      await compare({ ...subject, what: 'GET the peer list, 304', goal: { atLeast: 0.8 } }, rounds, {
        ours: () => load({ url: peersUrl, headers: unchanged, status: 304 }),
        anchor: anchorOf(0),
      }),
      await compare({ ...subject, what: 'the anchor itself', anchor: 'bare Koa', goal: null }, rounds, {
        ours: anchorOf(storageSize),
        anchor: () => load({ url: `${anchors.bare}/${storageSize}` }),
      }),
    ];
  });
}
