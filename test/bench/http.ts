import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type autocannon from 'autocannon';
import type { HttpBenchSetup } from './http-server.js';
import { connections, load, type Requests } from './load.js';
import { compare, type Comparison } from './measure.js';

// The number is odd for the median, and high because the figures vary by a tenth between rounds.
const rounds = 7;
const storagesPerProject = 20;

/**
 * Compares the routes of the first path with a bare route with the same listener, request-id and log, over keep-alive
 * connections.
 */
export async function benchHttp(): Promise<readonly Comparison[]> {
  const child = fork(fileURLToPath(new URL('./http-server.js', import.meta.url)), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  try {
    const [setup] = (await once(child, 'message')) as [HttpBenchSetup];
    return await compareRoutes(setup);
  } finally {
    child.disconnect();
    await once(child, 'exit');
  }
}

async function compareRoutes(setup: HttpBenchSetup): Promise<readonly Comparison[]> {
  const session = { authorization: setup.authorization };
  const agent = { 'x-agent-secret': setup.agentSecret };
  const storageUrl = `${setup.service}${setup.storagePath}`;
  const peersUrl = `${setup.service}/api/v1/internal/peer-list`;
  const peers = await fetch(peersUrl, { headers: agent });
  const storageSize = (await (await fetch(storageUrl, { headers: session })).text()).length;
  const peersSize = (await peers.text()).length;
  const unchanged = { ...agent, 'if-none-match': peers.headers.get('etag') ?? '' };
  const subject = { unit: 'requests/s', anchor: 'anchor' };
  const half = Math.floor(setup.projectIds.length / 2);
  const anchorOf = (size: number) => (): Promise<number> => load({ url: `${setup.anchor}/${size}` });

  const comparisons = [
    await compare({ ...subject, what: 'GET a storage', goal: { atLeast: 0.5 } }, rounds, {
      ours: () => load({ url: storageUrl, headers: session }),
      anchor: anchorOf(storageSize),
    }),
    await compare({ ...subject, what: 'GET the peer list of 20 nodes', goal: { atLeast: 0.8 } }, rounds, {
      ours: () => load({ url: peersUrl, headers: agent }),
      anchor: anchorOf(peersSize),
    }),
    await compare({ ...subject, what: 'GET the peer list, 304', goal: { atLeast: 0.8 } }, rounds, {
      ours: () => load({ url: peersUrl, headers: unchanged, status: 304 }),
      anchor: anchorOf(0),
    }),
    await compare({ ...subject, what: 'POST a storage', goal: { atLeast: 0.3 } }, rounds, {
      ours: creationsIn(setup, setup.projectIds.slice(0, half), connections),
      anchor: () => load({ ...creation(setup), url: `${setup.anchor}/${storageSize}` }),
    }),
    await compare({ ...subject, what: 'POST a storage, all in one project at a time', goal: null }, rounds, {
      ours: creationsIn(setup, setup.projectIds.slice(half), 1),
      anchor: () => load({ ...creation(setup), url: `${setup.anchor}/${storageSize}` }),
    }),
  ];
  const bare = await compare(
    { ...subject, what: 'the anchor itself', anchor: 'bare Koa', goal: null },
    rounds,
    { ours: anchorOf(storageSize), anchor: () => load({ url: `${setup.bare}/${storageSize}` }) },
  );
  return [...comparisons, bare];
}

function creation({ authorization }: Pick<HttpBenchSetup, 'authorization'>): Requests {
  return {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'Rushes',
      provider: 's3',
      bucket: 'rushes',
      region: 'eu-central-1',
      credentials: { access_key: 'AKIAEXAMPLE', secret_key: 'not-a-real-secret' },
    }),
  };
}

/** Creates a storage with each request: in a number of projects in turn until each has 20, then in the next ones. */
function creationsIn(
  setup: Pick<HttpBenchSetup, 'authorization' | 'service'>,
  projectIds: readonly string[],
  projectsAtOnce: number,
): () => Promise<number> {
  let created = 0;
  const nextPath = (): string => {
    const group = Math.floor(created / (storagesPerProject * projectsAtOnce));
    const projectId = projectIds[group * projectsAtOnce + (created % projectsAtOnce)];
    if (projectId === undefined) throw new Error('the projects of this bench are full');
    created += 1;
    return `/api/v1/projects/${projectId}/storages`;
  };
  const requests = [{ setupRequest: (request: autocannon.Request) => ({ ...request, path: nextPath() }) }];
  return () => load({ ...creation(setup), url: setup.service, requests, status: 201 });
}
