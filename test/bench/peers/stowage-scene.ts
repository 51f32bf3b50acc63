import type autocannon from 'autocannon';
import {
  asObject,
  grantStorage,
  makeServiceClient,
  type SignedIn,
  storageRequest,
  textOf,
} from '../../support/clients/service-client.js';
import { makePaymentPlatforms } from '../../support/clients/payment-platforms.js';
import type { ServiceProcess } from '../../support/servers/service-process.js';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { connections } from '../load.js';
import { password, signIn } from '../logins.js';
import type { Requests } from './sides.js';

/** A project has 20 storages at most, and a user 100 projects. */
const projectsOfUser = 14;
/** The storages, the projects and the callbacks of one platform of a round, so many that it takes about as long as those by time. */
const amounts = { storages: 1_300, projects: 1_500, callbacks: 700 };
/** Users who create projects and orders only. */
const buyersCount = 100;
const ordersOfUser = 88;

interface Member extends SignedIn {
  readonly email: string;
  readonly projects: readonly string[];
  /** A storage and an asset in the first project. */
  readonly storage: string;
  readonly asset: string;
}

/** What the rows ask of the service: each connection is a user with projects, storages, assets and orders. */
export async function makeStowageScene(service: ServiceProcess) {
  const client = makeServiceClient(service.url);
  const program = 'Stowage';
  /** Those of the members, then of the buyers. */
  const refreshTokens: string[] = [];
  const members: Member[] = [];
  const buyers: SignedIn[] = [];
  // One user more than connections keeps one project.
  for (let index = 0; index <= connections; index += 1)
    members.push(await makeMember(`user-${index}@example.org`, index < connections ? projectsOfUser : 1));
  for (let index = 0; index < buyersCount; index += 1) {
    const buyer = await client.register(`buyer-${index}@example.org`, password);
    refreshTokens.push(buyer.refreshToken);
    buyers.push(buyer);
  }
  const memberOf = (connection: number): Member => members[connection % connections] as Member;
  const base = { program, url: service.url, pid: service.pid };
  const buyerOf = (sent: number): SignedIn => buyers[sent % buyersCount] as SignedIn;
  const headersOf = (member: SignedIn): Record<string, string> => ({
    ...member.headers,
    'content-type': 'application/json',
  });
  const side = (more: Partial<Requests>, requestOf: (member: Member) => autocannon.Request): Requests => ({
    ...base,
    connect: (connection) => {
      const member = memberOf(connection);
      return { next: () => ({ headers: headersOf(member), ...requestOf(member) }) };
    },
    ...more,
  });
  /** Requests that any connection may send, each once. */
  const inTurn = (more: Partial<Requests>, requestOf: (sent: number) => autocannon.Request): Requests => {
    let sent = 0;
    return { ...base, ...more, connect: () => ({ next: () => requestOf(sent++) }) };
  };
  const post = (path: string, body: JsonObject): autocannon.Request => ({
    method: 'POST',
    path: `/api/v1${path}`,
    body: JSON.stringify(body),
  });
  const projectPath = ({ projects: [first] }: Member): string => `/projects/${first}`;
  const newAsset = (member: Member): autocannon.Request =>
    post(`${projectPath(member)}/assets`, asset(member.storage));

  return {
    signIn: (n: number): Promise<number> => signIn(client, memberOf(n).email),
    /** Renews the access tokens, which live for 10 minutes. */
    renew: async (): Promise<void> => {
      for (const index of refreshTokens.keys()) {
        const reply = await client.post('/api/v1/auth/refresh', {
          refresh_token: refreshTokens[index] ?? '',
        });
        const tokens = asObject(asObject(reply.json()['data'])['tokens'] ?? reply.json()['data']);
        refreshTokens[index] = textOf(tokens, 'refresh_token');
        const headers = { authorization: `Bearer ${textOf(tokens, 'access_token')}` };
        const [member, buyer] = [members[index], index - members.length];
        if (member === undefined) buyers[buyer] = { ...buyerOf(buyer), headers };
        else members[index] = { ...member, headers };
      }
    },
    /** Gives the first user as many projects as a user may have. */
    fill: async (): Promise<void> => {
      const [{ headers }] = members as [Member];
      for (;;) {
        const reply = await client.post('/api/v1/projects', { name: 'Film' }, headers);
        if (reply.status !== 201) return;
      }
    },
    get: () => side({}, (member) => ({ path: `/api/v1${projectPath(member)}/storages/${member.storage}` })),
    list: () => side({}, (member) => ({ path: `/api/v1${projectPath(member)}/assets?limit=50` })),
    media: () => side({}, (member) => post(`${projectPath(member)}/assets/${member.asset}/media`, {})),
    asset: () => side({ status: 201 }, newAsset),
    /** A new asset of one user alone. */
    assetOf: (index: number, program: string) => {
      const member = members[index] as Member;
      const next = () => ({ headers: headersOf(member), ...newAsset(member) });
      return side({ program, status: 201, connect: () => ({ next }) }, newAsset);
    },
    storage: () =>
      inTurn({ status: 201, amount: amounts.storages }, (sent) => {
        const member = memberOf(sent);
        const project = member.projects[Math.floor(sent / connections) % projectsOfUser];
        const request = post(`/projects/${project}/storages`, storageRequest('Rushes'));
        return { headers: headersOf(member), ...request };
      }),
    project: () =>
      inTurn({ status: 201, amount: amounts.projects }, (sent) => ({
        headers: headersOf(buyerOf(sent)),
        ...post('/projects', { name: 'Film' }),
      })),
    refresh: (): Requests => ({
      ...base,
      connect: (connection) => ({
        next: () => ({
          ...post('/auth/refresh', { refresh_token: refreshTokens[connection] ?? '' }),
          headers: { 'content-type': 'application/json' },
        }),
        onReply: (body) => {
          const [, token] = /"refresh_token":"([^"]+)"/.exec(body) ?? [];
          if (token !== undefined) refreshTokens[connection] = token;
        },
      }),
    }),
    callbacks: async (
      provider: 'standard' | 'stripe',
    ): Promise<{ readonly once: Requests; readonly again: Requests }> => {
      const signed = await signCallbacks(provider);
      const path = `/api/v1/payment/webhooks/${provider}`;
      const requestOf = (index: number): autocannon.Request => {
        const callback = signed[index];
        if (callback === undefined) throw new Error('all callbacks are sent');
        return { method: 'POST', path, headers: callback.headers, body: callback.body };
      };
      return {
        once: inTurn({ amount: amounts.callbacks }, requestOf),
        again: inTurn({}, () => requestOf(0)),
      };
    },
    /** Returns the bytes of the reply to a request. */
    sizeOf: async ({ connect }: Requests): Promise<number> => {
      const { method = 'GET', path = '', headers, body } = connect(0).next();
      const init = { method, headers: headers as Record<string, string>, body: body?.toString() };
      return (await client.send(path, init as RequestInit)).text.length;
    },
  };

  async function makeMember(email: string, projectsCount: number): Promise<Member> {
    const user = await client.register(email, password);
    refreshTokens.push(user.refreshToken);
    const projects: string[] = [];
    for (let n = 0; n < projectsCount; n += 1) {
      const project = await made('/api/v1/projects', { name: 'Film' }, user);
      await grantStorage(service.directory, project);
      projects.push(project);
    }
    const path = `/api/v1/projects/${projects[0]}`;
    const storage = await made(`${path}/storages`, storageRequest('Rushes'), user);
    let last = '';
    for (let n = 0; n < 50; n += 1)
      last = await made(`${path}/assets`, { ...asset(storage), object_key: `rushes/${n}.mp4` }, user);
    return { ...user, email, projects, storage, asset: last };
  }

  async function made(path: string, body: JsonObject, { headers }: SignedIn): Promise<string> {
    const reply = await client.post(path, body, headers);
    if (reply.status !== 201) throw new Error(`${path} was answered ${reply.status}: ${reply.text}`);
    return textOf(reply.json(), 'id');
  }

  /** Places orders, half of the number that users may have for each platform. */
  async function signCallbacks(provider: 'standard' | 'stripe') {
    const platform = (await makePaymentPlatforms('ours'))[provider];
    const [at, order] = [new Date(), { plan_id: 'capacity-100g', provider }];
    const placed = await Promise.all(
      buyers.map(async ({ headers }) => {
        const callbacks = [];
        for (let n = 0; n < ordersOfUser / 2; n += 1) {
          const reply = (await client.post('/api/v1/orders', order, headers)).json();
          const [orderNumber, currency] = [textOf(reply, 'number'), textOf(reply, 'currency')];
          const transaction = textOf(reply, 'id').replaceAll('-', '').slice(-20);
          callbacks.push(
            platform.pay({ orderNumber, transaction, amount: Number(reply['amount']), currency }, at),
          );
        }
        return callbacks;
      }),
    );
    return placed.flat();
  }
}

function asset(storage: string): JsonObject {
  return { storage_id: storage, media_type: 'video/mp4', size: 1, name: 'Rhine' };
}
