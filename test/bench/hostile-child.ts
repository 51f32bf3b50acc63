import { setTimeout as wait } from 'node:timers/promises';
import {
  makeServiceClient,
  type HeaderFields,
  type ServiceReply,
} from '../support/clients/service-client.js';
import { accounts, type HostileScene, password } from './hostile-scene.js';

// Sends as much as the limits of an account allow, in a separate process, so that its work delays no measurement:
// node hostile-child.js '<JSON of a HostileTask>'

/** The attacks of a round. */
export interface HostileTask {
  readonly url: string;
  readonly seconds: number;
  readonly attacks: readonly string[];
  readonly scene: HostileScene;
}

type Send = (headers: HeaderFields) => Promise<ServiceReply>;

const { url, seconds, attacks, scene } = JSON.parse(process.argv[2] ?? '') as HostileTask;
const client = makeServiceClient(url);
const sessions = 5;
const loopsOfSession = 8;
const path = `/api/v1/projects/${scene.project}`;
/** The addresses of the account, and of strangers who help it. */
const own = '198.51.100.1';
const strangers = Array.from({ length: 14 }, (_, n) => `198.51.100.${100 + n}`);
const from = (address: string): HeaderFields => ({ 'x-forwarded-for': address });
const json = (method: string, to: string, body: object, headers: HeaderFields) =>
  client.send(to, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const anyOf = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)] as Item;

/** What each attack sends: requests of the account, or of strangers. */
const sends: Readonly<Record<string, { readonly sends: readonly Send[]; readonly isStrange?: true }>> = {
  lists: {
    sends: [
      (headers) => client.get(`${path}/assets?sort=size&q=nothing&limit=200`, headers),
      (headers) => client.get(`${path}/assets?sort=-name&q=nothing&limit=200`, headers),
      (headers) => client.get(`${path}/assets?limit=200`, headers),
      (headers) => client.get('/api/v1/projects?limit=200', headers),
    ],
  },
  writes: {
    sends: [
      (headers) => json('PATCH', '/api/v1/auth/me', { nickname: 'x' }, headers),
      (headers) => client.post('/api/v1/auth/reauthenticate', { password }, headers),
    ],
  },
  audit: {
    sends: [
      (headers) => client.get(`${path}/audit/events?limit=200`, headers),
      (headers) => client.get(`${path}/audit/events?actor=operator&limit=200`, headers),
      (headers) => client.get(`${path}/audit/events?type=AssetChanged&actor=operator`, headers),
    ],
  },
  imports: {
    sends: [
      (headers) => client.post(`${path}/assets/import`, { storage_id: scene.imported, limit: 200 }, headers),
    ],
  },
  bucket: {
    sends: [
      (headers) => client.post(`${anyOf(scene.storages)}/test`, {}, headers),
      (headers) => client.post(`${anyOf(scene.storages)}/cors`, {}, headers),
    ],
  },
  /** Each change is an event of one stream, and a message to an endpoint. */
  messages: {
    sends: ['disable', 'enable'].map(
      (action) => (headers) => client.post(`${scene.storages.at(-1) ?? ''}/${action}`, {}, headers),
    ),
  },
  names: { sends: [(headers) => client.post(`${anyOf(scene.unnamed)}/test`, {}, headers)] },
  playlists: {
    isStrange: true,
    sends: [(headers) => client.get(anyOf(playlists), headers)],
  },
  'sign-ins': {
    isStrange: true,
    sends: [
      (headers) =>
        client.post('/api/v1/auth/login', { email: accounts.honest, password: 'wrong-1' }, headers),
      (headers) =>
        client.post('/api/v1/auth/login', { email: 'any@example.org', password: 'wrong-1' }, headers),
    ],
  },
  codes: {
    isStrange: true,
    sends: [
      (headers) => client.post('/api/v1/auth/email-code/send', { email: accounts.honest }, headers),
      (headers) =>
        client.post('/api/v1/auth/email-code/login', { email: accounts.honest, code: '000000' }, headers),
    ],
  },
  'share passwords': {
    isStrange: true,
    sends: [
      (headers) => client.get(`/api/v1/shares/${scene.share}`, headers),
      (headers) => client.post(`/api/v1/shares/${scene.share}/verify`, { password: 'wrong-1' }, headers),
    ],
  },
  callbacks: {
    isStrange: true,
    sends: [
      (headers) =>
        client.send('/api/v1/payment/webhooks/standard', {
          method: 'POST',
          headers: {
            ...{ 'webhook-id': 'a', 'webhook-timestamp': String(Math.floor(Date.now() / 1_000)) },
            ...{ 'webhook-signature': 'v1,AAAA', ...headers },
          },
          body: Buffer.alloc(250 * 1_024, 0x61),
        }),
    ],
  },
};

const tokens: HeaderFields[] = [];
for (let n = 0; n < sessions; n += 1) tokens.push(await signIn());
const playlists = attacks.includes('playlists') ? await playlistPaths(tokens[0] ?? {}) : [];

const end = performance.now() + seconds * 1_000;
const counts = await Promise.all(
  Array.from({ length: sessions * loopsOfSession }, (_, loop) => {
    const attack = sends[attacks[loop % attacks.length] ?? ''];
    if (attack === undefined) throw new Error(`there is no attack ${attacks.join()}`);
    const token = tokens[loop % sessions] ?? {};
    const headers = attack.isStrange === true ? from(anyOf(strangers)) : { ...token, ...from(own) };
    return sendUntilEnd(attack.sends, headers);
  }),
);
const admitted = counts.reduce((sum, count) => sum + count, 0);
if (admitted === 0) throw new Error('no request was admitted');
process.stdout.write(String(admitted));

async function signIn(): Promise<HeaderFields> {
  for (;;) {
    const credentials = { email: accounts.hostile, password };
    const reply = await client.post('/api/v1/auth/login', credentials, from(own));
    if (reply.status === 200) {
      const { tokens: made } = reply.json()['data'] as { tokens: { access_token: string } };
      return { authorization: `Bearer ${made.access_token}` };
    }
    await wait(Number(reply.headers.get('retry-after')) * 1_000);
  }
}

/** Returns the paths of playlists, as members get them. */
async function playlistPaths(headers: HeaderFields): Promise<readonly string[]> {
  const paths: string[] = [];
  for (const asset of scene.playlists) {
    const reply = await client.post(`${asset}/media`, {}, headers);
    const media = reply.json()['media'] as readonly { kind: string; url: string }[];
    const address = media.find(({ kind }) => kind === 'hls')?.url;
    if (address === undefined) throw new Error(`the asset has no playlist: ${reply.text}`);
    paths.push(new URL(address).pathname);
  }
  return paths;
}

/** Returns the number of requests that no limit refused. A refused one is repeated when the reply says. */
async function sendUntilEnd(chosen: readonly Send[], headers: HeaderFields): Promise<number> {
  let count = 0;
  while (performance.now() < end) {
    const { status, headers: reply } = await anyOf(chosen)(headers);
    if (status !== 429 && status !== 503) count += 1;
    else await wait(Math.min(Number(reply.get('retry-after')) * 1_000, end - performance.now() + 1));
  }
  return count;
}
