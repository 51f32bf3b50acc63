/*
 * Completes the scenario of test/servers/generated-clients.test.ts with the types that openapi-typescript generates. It asks its
 * parent for what happens outside the API: it writes a request to standard output as a line, and reads a line.
 */
import { createInterface } from 'node:readline';
import type { paths } from '#client';
import createClient from 'openapi-fetch';

const password = 'Correct-Horse-7';
const content = 'Rhine at dawn, by TypeScript';
const { STOWAGE_URL: baseUrl = '', EMAIL: email = '', BUCKET_ENDPOINT: endpoint = '' } = process.env;
const input = createInterface({ input: process.stdin });
const answers = input[Symbol.asyncIterator]();

async function ask(question: string): Promise<string> {
  console.log(question);
  const answer = await answers.next();
  if (answer.done === true) throw new Error(`no answer to: ${question}`);
  return answer.value;
}

interface Result<Data> {
  readonly data?: Data;
  readonly error?: { readonly code: string; readonly message: string };
  readonly response: Response;
}

/** Returns the body of a success. @throws {Error} with the code of a refusal */
async function must<Data>(sent: Promise<Result<Data>>): Promise<NonNullable<Data>> {
  const { data, error, response } = await sent;
  if (data !== undefined && data !== null) return data;
  throw new Error(`${response.status} ${error?.code ?? ''}: ${error?.message ?? ''}`);
}

async function until<Value>(read: () => Promise<Value>, holds: (value: Value) => boolean): Promise<Value> {
  for (const deadline = Date.now() + 600_000; Date.now() < deadline;) {
    const found = await read();
    if (holds(found)) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('the state that was awaited did not come');
}

const visitor = createClient<paths, 'application/json'>({ baseUrl });
const {
  data: { user, tokens },
} = await must(visitor.POST('/api/v1/auth/register', { body: { email, password } }));
const client = createClient<paths, 'application/json'>({
  baseUrl,
  headers: { authorization: `Bearer ${tokens.access_token}` },
});
const code = await ask(`code ${email}`);
const { error: unverified } = await client.POST('/api/v1/auth/email/verify', { body: { code } });
if (unverified !== undefined) throw new Error(unverified.message);

const project = await must(client.POST('/api/v1/projects', { body: { name: 'Film' } }));
const path = { projectId: project.id };
await ask(`entitle ${project.id}`);

const bound = await must(
  client.POST('/api/v1/projects/{projectId}/storages', {
    params: { path },
    body: {
      ...{ provider: 's3', name: 'Rushes', bucket: 'rushes', region: 'us-east-1', endpoint },
      credentials: { access_key: 'a-key', secret_key: 'a-secret' },
    },
  }),
);
const ofStorage = { params: { path: { ...path, storageId: bound.id } } };
await must(client.POST('/api/v1/projects/{projectId}/storages/{storageId}/test', { ...ofStorage, body: {} }));
const storage = await until(
  () => must(client.GET('/api/v1/projects/{projectId}/storages/{storageId}', ofStorage)),
  ({ status }) => status !== 'pending' && status !== 'testing',
);

const added = await must(
  client.POST('/api/v1/projects/{projectId}/assets', {
    params: { path },
    body: {
      // The default storage of the project follows the test within moments.
      storage_id: storage.id,
      ...{ name: 'Rhine', object_key: 'typescript/rhine.mp4' },
      ...{ media_type: 'video/mp4', size: content.length },
    },
  }),
);
const ofAsset = { params: { path: { ...path, assetId: added.id } }, body: {} };
const upload = await must(client.POST('/api/v1/projects/{projectId}/assets/{assetId}/upload-url', ofAsset));
const { url, method, headers } = upload;
const put = await fetch(url, { method, headers, body: content });
if (!put.ok) throw new Error(`the bucket answered ${put.status}`);
const asset = await must(client.POST('/api/v1/projects/{projectId}/assets/{assetId}/uploaded', ofAsset));

const share = await must(
  client.POST('/api/v1/projects/{projectId}/shares', {
    params: { path },
    body: { asset_id: asset.id, password: 'open sesame' },
  }),
);
const ofShare = { params: { path: { token: share.token ?? '' } } };
const { error: refused } = await visitor.POST('/api/v1/shares/{token}/verify', {
  ...ofShare,
  body: { password: 'wrong' },
});
const opened = await must(
  visitor.POST('/api/v1/shares/{token}/verify', { ...ofShare, body: { password: 'open sesame' } }),
);
const [link] = opened.data.media;
if (link === undefined) throw new Error('the share has no media');
const media = await (await fetch(link.url)).text();

const placed = await must(
  client.POST('/api/v1/orders', { body: { plan_id: 'capacity-100g', provider: 'standard' } }),
);
await ask(`pay ${placed.number}`);
const order = await until(
  () => must(client.GET('/api/v1/orders/{orderId}', { params: { path: { orderId: placed.id } } })),
  ({ status }) => status === 'fulfilled',
);
input.close();

const result = {
  ...{ email: user.email, project: project.name, storage: storage.status, asset: asset.upload },
  ...{ refused: refused?.code, media, order: order.status },
};
console.log(`done ${JSON.stringify(result)}`);
