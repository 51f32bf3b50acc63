import { randomBytes } from 'node:crypto';
import autocannon from 'autocannon';
import { keyEnvironment, type Environment } from '../support/servers/service-process.js';
import { startEventStoreDbServer } from '../support/servers/eventstoredb-server/server.js';
import { addNode, textOf } from '../support/clients/service-client.js';
import { load } from './load.js';
import { compare, type Comparison } from './measure.js';
import { withServe } from './with-serve.js';

const rounds = 7;
const nodeCount = 1_000;
const checksPerSecond = 100;
const agentSecret = 'bench-agent-secret';
const headers = { 'x-agent-secret': agentSecret };

/** Compares peer lists of 1,000 nodes with a bare route that answers as many bytes, on embedded stores and on MongoDB. */
export async function benchPeerLists(): Promise<readonly Comparison[]> {
  const embedded = await withNodes({}, async (setup) => [
    ...(await compareLists(setup, { where: 'embedded', atLeast: 0.8 })),
    await compareChecks(setup),
  ]);
  const server = process.env['MONGODB_URL'] || undefined;
  if (server === undefined) {
    process.stdout.write('SKIPPED the peer lists on MongoDB: no MONGODB_URL\n');
    return embedded;
  }
  const mongoDbUrl = new URL(server);
  mongoDbUrl.pathname = `/bench_${randomBytes(6).toString('hex')}`;
  const log = await startEventStoreDbServer();
  const environment = {
    ...keyEnvironment,
    EVENTSTOREDB_URL: log.url,
    EVENTSTOREDB_ALLOW_INSECURE: 'true',
    MONGODB_URL: mongoDbUrl.href,
  };
  try {
    const onMongoDb = await withNodes(environment, (setup) =>
      compareLists(setup, { where: 'MongoDB', atLeast: 0.6 }),
    );
    return [...embedded, ...onMongoDb];
  } finally {
    await log.close();
  }
}

interface PeerListsSetup {
  /** The path of the agents' calls. */
  readonly service: string;
  readonly anchor: string;
  readonly nodeIds: readonly string[];
}

/** Runs work with a service that has 1,000 nodes. */
function withNodes(
  environment: Environment,
  measure: (setup: PeerListsSetup) => Promise<readonly Comparison[]>,
): Promise<readonly Comparison[]> {
  const settings = { NODE_AGENT_SECRET: agentSecret, MAX_CONNECTIONS_PER_CLIENT: '1000', ...environment };
  return withServe(settings, async ({ url, directory }, { anchor }) => {
    const service = `${url}/api/v1/internal`;
    const nodeIds: string[] = [];
    for (let index = 0; index < nodeCount; index += 1) {
      const node = await addNode(directory, `edge-${index}`, `192.0.${index >> 8}.${index & 255}`);
      nodeIds.push(textOf(node, 'id'));
    }
    // Two successes make a node healthy, so later ones change no entity tag.
    for (let check = 0; check < 2; check += 1) await checkAll({ service, nodeIds });
    return measure({ service, anchor, nodeIds });
  });
}

async function compareLists(
  { service, anchor, nodeIds }: PeerListsSetup,
  { where, atLeast }: { readonly where: string; readonly atLeast: number },
): Promise<readonly Comparison[]> {
  const url = `${service}/peer-list`;
  const own = `${url}?node_id=${nodeIds[0]}`;
  const reply = await fetch(own, { headers });
  const size = (await reply.arrayBuffer()).byteLength;
  const subject = { unit: 'requests/s', anchor: 'anchor', goal: { atLeast } };
  const differentClients = paths(nodeIds, (id) => `${new URL(url).pathname}?node_id=${id}`);
  return [
    await compare({ ...subject, what: `the peer list for ${nodeCount} clients, ${where}` }, rounds, {
      ours: () => load({ url: service, headers, requests: differentClients }),
      anchor: () => load({ url: `${anchor}/${size}` }),
    }),
    await compare(
      { ...subject, what: `the same, 304 beside ${checksPerSecond} checks/s, ${where}` },
      rounds,
      {
        ours: async () => {
          // The checks of the load change no node that had fallen silent.
          await checkAll({ service, nodeIds });
          const etag = (await fetch(own, { headers })).headers.get('etag') ?? '';
          const unchanged = load({ url: own, headers: { ...headers, 'if-none-match': etag }, status: 304 });
          const [answered] = await Promise.all([unchanged, checks({ service, nodeIds }, checksPerSecond)]);
          return answered;
        },
        anchor: () => load({ url: `${anchor}/0` }),
      },
    ),
  ];
}

/** The store takes as many checks a second as it can. */
function compareChecks(setup: PeerListsSetup): Promise<Comparison> {
  const subject = { unit: 'checks/s', anchor: 'the goal', goal: { atLeast: 1 } };
  return compare({ ...subject, what: `checks of ${nodeCount} nodes, embedded` }, rounds, {
    ours: () => checks(setup, null),
    anchor: () => Promise.resolve(500),
  });
}

/** Reports a success of each node. */
async function checkAll({ service, nodeIds }: Pick<PeerListsSetup, 'service' | 'nodeIds'>): Promise<void> {
  for (let from = 0; from < nodeIds.length; from += 50) {
    await Promise.all(
      nodeIds.slice(from, from + 50).map(async (id) => {
        const reply = await fetch(`${service}/nodes/${id}/checks`, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ ok: true }),
        });
        if (!reply.ok) throw new Error(`a check was answered ${reply.status}: ${await reply.text()}`);
      }),
    );
  }
}

/** Sends checks of all nodes in turn for 2 s. @returns those that were counted in a second */
async function checks(
  { service, nodeIds }: Pick<PeerListsSetup, 'service' | 'nodeIds'>,
  perSecond: number | null,
): Promise<number> {
  const { pathname } = new URL(service);
  const result = await autocannon({
    ...{ url: service, duration: 2, connections: 10, method: 'POST' },
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{"ok":true,"latency_ms":7}',
    requests: paths(nodeIds, (id) => `${pathname}/nodes/${id}/checks`),
    ...(perSecond === null ? {} : { overallRate: perSecond }),
  });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(JSON.stringify(result.statusCodeStats));
  return result['2xx'] / result.duration;
}

/** The next request asks for the path of the next node. */
function paths(nodeIds: readonly string[], pathOf: (id: string) => string): autocannon.Request[] {
  let next = 0;
  return [
    {
      setupRequest: (request) => {
        next += 1;
        return { ...request, path: pathOf(nodeIds[next % nodeIds.length] ?? '') };
      },
    },
  ];
}
