/* Replies of providers, mutated: what the service concludes from them is never more than they say. */
import { once } from 'node:events';
import { generateKeyPairSync, sign } from 'node:crypto';
import { type AddressInfo, createServer } from 'node:net';
import test from 'ava';
import { makeWechatPayClient } from '../../src/areas/payments/platforms/wechatpay/wechatpay-client.js';
import { makeHeadObject, makeReadObject } from '../../src/areas/storages/bucket/objects/head-object.js';
import { verdictOf } from '../../src/areas/storages/bucket/probing/probe-pages.js';
import { makeAllowedAddress } from '../../src/outgoing/addresses.js';
import { corsRuleFields } from '../../src/areas/storages/domain/delivery/cors-rule.js';
import { withCorsRule } from '../../src/areas/storages/bucket/probing/bucket-cors.js';
import { makeDeleteObject } from '../../src/areas/storages/bucket/objects/call-bucket.js';
import { makeListObjects } from '../../src/areas/storages/bucket/objects/list-objects.js';
import { makeMultipart } from '../../src/areas/storages/bucket/objects/multipart.js';
import { makeStorageUrls } from '../../src/areas/storages/bucket/signing/media-urls.js';
import { type OutgoingReply } from '../../src/outgoing/outgoing-http.js';
import { type ProviderForms, providerForms } from '../areas/storages/bucket/provider-forms.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { type Dice, makeDice } from '../support/simulation/fuzz/shapes-and-dice.js';
import { makePatientHttp } from '../support/clients/patient-http.js';

/* DEEP_SEED=<printed> replays a run; DEEP_BUDGET multiplies its length. */
const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);
const mutations = Math.ceil(10_000 * Math.max(0.01, Number(process.env['DEEP_BUDGET'] ?? 1)));
const msMax = 20_000;
const now = () => new Date('2026-11-23T03:00:00Z');
const place = { protocol: 'https:', host: 'media.example.org', pathPrefix: '/' } as const;
const urls = makeStorageUrls(
  { provider: 's3', ...place, client: place, bucket: 'media', region: 'a', cdnDomain: '', mode: 'origin' },
  { id: 'an-id', secret: 'a-secret' },
);
const target = { urls, key: 'a.jpg', bucketUploadId: 'u-1' };
const count = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].length;

function headersIn(body: Buffer): Record<string, string | undefined> {
  const lines = body.toString().matchAll(/^([^:\n]*): (.*)$/gm);
  return Object.fromEntries(Array.from(lines, ([, name = '', value]) => [name, value]));
}

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const key = { key: publicKey, validFrom: -Infinity, validTo: Infinity };
const signedForm = '{"trade_state":"SUCCESS"}';
const at = String(now().getTime() / 1_000);
const signature = {
  ...{ 'wechatpay-timestamp': at, 'wechatpay-nonce': 'n', 'wechatpay-serial': '3' },
  'wechatpay-signature': sign('sha256', Buffer.from(`${at}\nn\n${signedForm}\n`), privateKey).toString(
    'base64',
  ),
};

/** A server that sends a reply as bytes, and a HEAD of an object there by the client of the service. */
const onConnection = {
  reply: Buffer.alloc(0),
  head: (async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(onConnection.reply));
    }).listen(0, '127.0.0.1');
    server.unref();
    await once(server, 'listening');
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const at = { protocol: 'http:', host, pathPrefix: '/' } as const;
    const { bucket } = makeStorageUrls(
      { provider: 's3', ...at, client: at, bucket: 'media', region: 'a', cdnDomain: '', mode: 'origin' },
      { id: 'an-id', secret: 'a-secret' },
    );
    const http = makePatientHttp({ isAllowed: makeAllowedAddress(['127.0.0.0/8']) });
    const head = makeHeadObject({ http, now });
    return () => head({ urls: { ...urls, bucket }, provider: 's3', key: 'a.jpg' });
  })(),
};

/** What a mutated reply must say where the service takes it for a success; null where it does not. */
type Claim = RegExp | null;

interface Reader {
  readonly name: string;
  readonly form: (forms: ProviderForms) => string;
  readonly read: (reply: OutgoingReply, provider: ProviderForms['provider']) => Promise<Claim>;
}

const readers: readonly Reader[] = [
  {
    name: 'lists',
    form: ({ list }) => list,
    read: async (reply, provider) => {
      const listObjects = makeListObjects({ http: () => Promise.resolve(reply), now });
      const answer = await listObjects({ urls, provider, prefix: '', token: null, limit: 10 });
      if (answer.kind !== 'listed') return null;
      const objects = count(reply.body.toString(), /<(?:\w+:)?Contents[\s>]/g);
      if (answer.objects.length > objects) throw new Error('it has more objects than the list');
      return answer.next === null ? /^200 [^]*IsTruncated/ : /^200 [^]*Next(?:ContinuationToken|Marker)/;
    },
  },
  {
    name: 'lists of parts',
    form: ({ parts }) => parts,
    read: async (reply) => {
      const listed = await makeMultipart({ http: () => Promise.resolve(reply), now }).listParts({
        ...{ ...target, after: 0, limit: 1_000 },
      });
      if ('failure' in listed) return null;
      const parts = count(reply.body.toString(), /<(?:\w+:)?Part[\s>]/g);
      if (listed.length > parts) throw new Error('it has more parts than the list');
      return /^2[^]*ListParts(?:Result|Response)/;
    },
  },
  {
    name: 'started uploads',
    form: ({ started }) => started,
    read: async (reply) => {
      const id = await makeMultipart({ http: () => Promise.resolve(reply), now }).start({
        ...{ ...target, mediaType: 'image/jpeg' },
      });
      return typeof id === 'string' ? /^2[^]*InitiateMultipartUploadResult[^]*UploadId/ : null;
    },
  },
  {
    name: 'joined uploads',
    form: ({ joined }) => joined,
    read: async (reply) => {
      const done = await makeMultipart({ http: () => Promise.resolve(reply), now }).complete({
        ...target,
        parts: [],
      });
      return done === 'done' ? /^2[^]*<(?:\w+:)?CompleteMultipartUploadResult/ : null;
    },
  },
  {
    name: 'errors of deletions',
    form: ({ error }) => error,
    read: async (reply) => {
      const deleted = await makeDeleteObject({ http: () => Promise.resolve(reply), now })(target);
      return deleted === 'deleted' ? /^(?:2|404 )/ : null;
    },
  },
  {
    name: 'CORS rules',
    form: ({ cors }) => cors,
    read: async ({ body }) => {
      const merged = await withCorsRule(body, ['https://app.example'], corsRuleFields);
      if (merged.is !== 'changed') return null;
      const rules = count(body.toString(), /<(?:\w+:)?CORSRule[\s/>]/g);
      if (count(merged.xml, /<CORSRule>/g) < Math.min(1, rules)) throw new Error('it lost a rule');
      return /CORSConfiguration/;
    },
  },
  {
    name: 'aborted uploads',
    form: ({ error }) => error.replace('NoSuchKey', 'NoSuchUpload'),
    read: async (reply) => {
      const aborted = await makeMultipart({ http: () => Promise.resolve(reply), now }).abort(target);
      if (aborted === 'done') return /^2/;
      return aborted.failure === 'missing' ? /^[345][^]*<(?:\w+:)?Error[^]*NoSuchUpload/ : null;
    },
  },
  {
    name: 'objects that are read',
    form: ({ parts }) => parts,
    read: async (reply) => {
      const headers = { 'content-length': String(reply.body.length) };
      const http = () => Promise.resolve({ ...reply, headers });
      const read = await makeReadObject({ http, now })({ ...target, bytesMax: 1_024 });
      return typeof read === 'string' ? null : /^200 [^]{0,1024}$/;
    },
  },
  {
    name: 'preflights',
    form: () =>
      'access-control-allow-origin: https://app.example\naccess-control-allow-methods: GET, PUT\naccess-control-allow-headers: range',
    read: ({ status, body }) => {
      const page = { origin: 'https://app.example', method: 'PUT', headers: ['range'] } as const;
      const { is } = verdictOf({ status, headers: headersIn(body) }, page);
      // In any order, as headers are
      const allows =
        /^2(?=[^]*-origin: (?:https:\/\/app\.example|\*)(?:\n|$))(?=[^]*-methods: .*(?:PUT|\*))/i;
      return Promise.resolve(is === 'allowed' ? allows : null);
    },
  },
  {
    name: 'signed replies of a platform',
    form: () => signedForm,
    read: async (reply) => {
      const replied = { ...reply, headers: signature };
      const client = makeWechatPayClient({
        ...{
          baseUrl: 'https://pay.example',
          now,
          makeNonce: () => 'n',
          call: () => Promise.resolve(replied),
        },
        ...{ signer: { mchId: '1', serial: '2', privateKey }, keys: () => key },
      });
      const fields = await client({ method: 'GET', path: '/' }).catch(() => null);
      return fields === null ? null : new RegExp(`^2.. ${signedForm.replace(/[{}]/g, '\\$&')}$`);
    },
  },
  {
    name: 'replies on their connection',
    form: () => 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: "a-tag"\r\nConnection: close\r\n\r\n',
    read: async (reply) => {
      onConnection.reply = Buffer.from(reply.body);
      const answer = await (await onConnection.head)();
      if (answer.kind !== 'found') return null;
      return new RegExp(
        `HTTP/1\\.[01] 200[^]*(?:content-length:|bytes 0-0/)[\\t ]*0*${answer.object.size}\\b`,
        'i',
      );
    },
  },
  {
    name: 'heads of objects',
    form: () => 'content-length: 5\ncontent-range: bytes 0-0/5\netag: "a-tag"\ncontent-type: image/jpeg',
    read: async ({ status, body }) => {
      const http = () => Promise.resolve({ status, headers: headersIn(body), body: Buffer.alloc(0) });
      const answer = await makeHeadObject({ http, now })({ urls, provider: 's3', key: 'a.jpg' });
      if (answer.kind !== 'found') return null;
      return new RegExp(`^(?:2|416 )[^]*(?:content-length: |bytes \\S+/)${answer.object.size}(?:\\n|$)`);
    },
  },
];

/** Damages a reply as networks, proxies and servers do: it cuts, doubles, drops and replaces pieces, and changes the status. */
function mutated(text: string, dice: Dice): OutgoingReply {
  let bytes = Buffer.from(text);
  for (let times = dice.between(1, 4); times > 0; times -= 1) {
    const [one, other] = [dice.below(bytes.length + 1), dice.below(bytes.length + 1)].sort(
      (a, b) => a - b,
    ) as [number, number];
    const [head, middle, tail] = [bytes.subarray(0, one), bytes.subarray(one, other), bytes.subarray(other)];
    bytes = dice.choose(
      () => Buffer.from(head),
      () => Buffer.concat([head, tail]),
      () => Buffer.concat([head, middle, middle, tail]),
      () =>
        Buffer.concat([head, Buffer.from(dice.pick(['<', '>', '&', '</a>', '<a>', '\0', '-', '9'])), tail]),
      () => Buffer.concat([head, Buffer.from([dice.below(256)]), bytes.subarray(one + 1)]),
    );
  }
  return {
    status: dice.pick([200, 200, 200, 204, 206, 301, 400, 403, 404, 416, 500, 503]),
    headers: {},
    body: bytes,
  };
}

for (const { name, form, read } of readers) {
  test(`No mutated reply among ${name} is a wrong success`, async (t) => {
    t.timeout(3_600_000);
    t.log(`DEEP_SEED=${seed}`);
    const dice = makeDice(makeSeededRandom(seed));
    for (let times = 0; times < mutations; times += 1) {
      const forms = dice.pick(providerForms);
      const reply = mutated(form(forms), dice);
      const startedMs = performance.now();
      const claim = await read(reply, forms.provider);
      const said = `${reply.status} ${reply.body.toString()}`;
      if (claim !== null && !claim.test(said)) t.fail(`it takes this for a success: ${said}`);
      if (performance.now() - startedMs > msMax) t.fail(`it takes too long: ${said}`);
    }
    t.pass();
  });
}
