import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import type { HttpBenchSetup } from './http-server.js';
import { compare, type Comparison } from './measure.js';

const connections = 32;
const seconds = 2;
const rounds = 3;
const storagesPerProject = 20;

/** The routes of the first path against a bare route with the same listener, request-id and log, over keep-alive connections. */
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
      ours: () => loadCreations(setup.service, setup),
      anchor: () => loadCreations(`${setup.anchor}/${storageSize}`, { ...setup, projectIds: null }),
    }),
  ];
  const bare = await compare(
    { ...subject, what: 'the anchor itself', anchor: 'bare Koa', goal: null },
    rounds,
    { ours: anchorOf(storageSize), anchor: () => load({ url: `${setup.bare}/${storageSize}` }) },
  );
  return [...comparisons, bare];
}

/** Requests per second; any other status than the expected one makes the figure worthless. */
async function load(options: {
  readonly url: string;
  readonly headers?: Record<string, string>;
  readonly status?: number;
}): Promise<number> {
  const { url, headers = {}, status = 200 } = options;
  return requestsPerSecond(await autocannon({ url, headers, connections, duration: seconds }), status);
}

let created = 0;

/** Each request binds another storage; a project takes 20. The anchor gets the same requests at one address. */
async function loadCreations(
  url: string,
  setup: Pick<HttpBenchSetup, 'authorization'> & { readonly projectIds: readonly string[] | null },
): Promise<number> {
  const { authorization, projectIds } = setup;
  const body = JSON.stringify({
    name: 'Rushes',
    provider: 's3',
    bucket: 'rushes',
    region: 'eu-central-1',
    credentials: { access_key: 'AKIAEXAMPLE', secret_key: 'not-a-real-secret' },
  });
  const nextPath = (): string => {
    if (projectIds === null) return new URL(url).pathname;
    created += 1;
    const projectId = projectIds[Math.floor(created / storagesPerProject)];
    if (projectId === undefined) throw new Error('the projects of this bench are full');
    return `/api/v1/projects/${projectId}/storages`;
  };
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    requests: [
      {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body,
        setupRequest: (request) => ({ ...request, path: nextPath() }),
      },
    ],
  });
  return requestsPerSecond(result, projectIds === null ? 200 : 201);
}

function requestsPerSecond(result: autocannon.Result, status: number): number {
  const answered = new Map(Object.entries(result.statusCodeStats ?? {})).get(String(status))?.count ?? 0;
  const others = result.requests.total - answered;
  if (others > 0 || result.errors > 0) {
    const statuses = JSON.stringify(result.statusCodeStats);
    throw new Error(`${others} other replies than ${status}, ${result.errors} errors: ${statuses}`);
  }
  return answered / result.duration;
}
