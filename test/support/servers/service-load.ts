import type { Random } from '../../../src/kit/time/clock.js';
import {
  addNode,
  asObject,
  grantStorage,
  type ServiceClient,
  signedIn,
  type SignedIn,
  storageRequest,
  textOf,
} from '../clients/service-client.js';
import type { Acknowledged, Ledger, Unanswered } from './service-ledger.js';

/** A project that can have further storages. */
interface OpenProject {
  readonly id: string;
  storages: number;
}

/** Clients that create and read until the service is gone. */
export interface Load {
  /**
   * Resolves when every client has noticed the end of the service.
   * @throws Error for an answer that the load must not get
   */
  run(): Promise<void>;
  /** Projects whose creation and grant were acknowledged, so that a test can check their storages. */
  readonly projects: ReadonlySet<string>;
}

const clients = 6;
/** The load creates fewer storages than the 20 of a project, because unanswered requests may count too. */
const storagesPerProject = 10;
const password = 'Correct-Horse-7';

/**
 * Makes a mixed load: projects, storages with an Idempotency-Key, nodes through the control socket, a few accounts, and
 * reads of all of them. Answers go into the ledger, and so do requests without an answer.
 * @param deps.name makes names and addresses unique among loads
 */
export function makeLoad(deps: {
  readonly client: ServiceClient;
  readonly directory: string;
  readonly owner: SignedIn;
  readonly ledger: Ledger;
  readonly random: Random;
  readonly name: string;
}): Load {
  const { client, directory, owner, ledger, random, name } = deps;
  const open: OpenProject[] = [];
  const granted = new Set<string>();
  let made = 0;
  /** Requests for a project, answered or not. */
  let asked = 0;
  let registering = false;

  return {
    projects: granted,
    run: async () => {
      await Promise.all(Array.from({ length: clients }, work));
    },
  };

  /** Runs one client until a request gets no answer. */
  async function work(): Promise<void> {
    for (;;) {
      try {
        await step();
      } catch (error) {
        if (error instanceof WrongAnswer) throw error;
        return;
      }
    }
  }

  async function step(): Promise<void> {
    const project = open.find((candidate) => candidate.storages < storagesPerProject);
    const draw = random();
    // A user owns at most 100 projects. A request without an answer may have made one.
    if (asked < 95 && (project === undefined || draw < 0.2)) await createProject();
    else if (project !== undefined && draw < 0.6) await createStorage(project);
    else if (draw < 0.7) await createNode();
    else if (draw < 0.72 && !registering) await register();
    else await readSomething();
  }

  async function createProject(): Promise<void> {
    asked += 1;
    const reply = await client.post('/api/v1/projects', { name: unique('project') }, owner.headers);
    if (reply.status === 503) return;
    expectStatus(reply, 201);
    const created = reply.json();
    const id = textOf(created, 'id');
    const path = `/api/v1/projects/${id}`;
    ledger.acknowledged.push({ path, headers: owner.headers, body: { id, name: textOf(created, 'name') } });
    await grantStorage(directory, id);
    ledger.acknowledged.push({ path, headers: owner.headers, body: { entitlements: { allow_s3: true } } });
    granted.add(id);
    open.push({ id, storages: 0 });
  }

  async function createStorage(project: OpenProject): Promise<void> {
    project.storages += 1;
    const path = `/api/v1/projects/${project.id}/storages`;
    const storage = unique('storage');
    await create({
      path,
      headers: { ...owner.headers, 'idempotency-key': storage },
      body: storageRequest(storage),
      acknowledge: (body) => ({ path: `${path}/${textOf(body, 'id')}`, headers: owner.headers, body }),
    });
  }

  async function register(): Promise<void> {
    registering = true;
    try {
      const account = unique('account');
      await create({
        path: '/api/v1/auth/register',
        headers: { 'idempotency-key': account },
        body: { email: `${account}@example.org`, password },
        acknowledge: (body) => ({
          path: '/api/v1/auth/me',
          headers: signedIn(body).headers,
          // Only this call shows the platform roles.
          body: { data: { ...asObject(asObject(body['data'])['user']), platform_roles: [] } },
        }),
      });
    } finally {
      registering = false;
    }
  }

  /** Sends a creation. Without an answer it goes into the ledger for a repetition. */
  async function create(request: Unanswered): Promise<void> {
    let reply: Awaited<ReturnType<ServiceClient['post']>>;
    try {
      reply = await client.post(request.path, request.body, request.headers);
    } catch (error) {
      ledger.unanswered.push(request);
      throw error;
    }
    // The request may have happened. A busy service may answer 503 at any time.
    if (reply.status === 503) {
      ledger.unanswered.push(request);
      return;
    }
    expectStatus(reply, 201);
    ledger.acknowledged.push(request.acknowledge(reply.json()));
  }

  async function createNode(): Promise<void> {
    const node = unique('node');
    await addNode(directory, node, `10.${made >> 16}.${(made >> 8) & 255}.${made & 255}`);
    ledger.nodes.add(node);
  }

  /** Reads an acknowledged resource, which must be visible at once. */
  async function readSomething(): Promise<void> {
    const recent: Acknowledged | undefined = ledger.acknowledged.at(-1 - Math.floor(random() * 20));
    if (recent === undefined) return;
    const reply = await client.get(recent.path, recent.headers);
    if (reply.status !== 503) expectStatus(reply, 200);
  }

  function unique(kind: string): string {
    made += 1;
    return `${kind}-${name}-${made}`;
  }
}

/** The service gave an answer that it must not give under this load. */
class WrongAnswer extends Error {
  override readonly name = 'WrongAnswer';
}

function expectStatus(reply: { readonly status: number; readonly text: string }, status: number): void {
  if (reply.status !== status) throw new WrongAnswer(`answered ${reply.status}: ${reply.text}`);
}
