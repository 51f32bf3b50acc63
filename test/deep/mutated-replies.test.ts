/* Replies of providers, mutated: what the service concludes from them is never more than they say. */
import test from 'ava';
import { corsRuleFields } from '../../src/areas/storages/domain/delivery/cors-rule.js';
import { withCorsRule } from '../../src/areas/storages/bucket/probing/cors-configuration.js';
import { makeDeleteObject } from '../../src/areas/storages/bucket/objects/delete-object.js';
import { makeHeadObject } from '../../src/areas/storages/bucket/objects/head-object.js';
import { makeListObjects } from '../../src/areas/storages/bucket/objects/list-objects.js';
import { makeMultipart } from '../../src/areas/storages/bucket/objects/multipart.js';
import { makeStorageUrls } from '../../src/areas/storages/bucket/signing/media-urls.js';
import type { OutgoingReply } from '../../src/outgoing/outgoing-http.js';
import { type ProviderForms, providerForms } from '../areas/storages/bucket/provider-forms.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { type Dice, makeDice } from '../support/simulation/fuzz/dice.js';

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

/** What a mutated reply must say where the service takes it for a success; null where it does not. */
type Claim = RegExp | null;

interface Reader {
  readonly name: string;
  readonly form: (forms: ProviderForms) => string;
  readonly read: (reply: OutgoingReply) => Promise<Claim>;
}

const readers: readonly Reader[] = [
  {
    name: 'lists',
    form: ({ list }) => list,
    read: async (reply) => {
      const listObjects = makeListObjects({ http: () => Promise.resolve(reply), now });
      const answer = await listObjects({ urls, provider: 's3', prefix: '', token: null, limit: 10 });
      if (answer.kind !== 'listed') return null;
      const objects = count(reply.body.toString(), /<(?:\w+:)?Contents[\s>]/g);
      if (answer.objects.length > objects) throw new Error('it has more objects than the list');
      return answer.next === null ? /^200 [^]*IsTruncated/ : /^200 [^]*NextContinuationToken/;
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
      // moto names the list after its operation.
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
    name: 'heads of objects',
    form: () => 'content-length: 5\ncontent-range: bytes 0-0/5\netag: "a-tag"\ncontent-type: image/jpeg',
    read: async ({ status, body }) => {
      const lines = body.toString().matchAll(/^([^:\n]*): (.*)$/gm);
      const headers: Record<string, string | undefined> = Object.fromEntries(
        Array.from(lines, ([, name = '', value]) => [name, value]),
      );
      const http = () => Promise.resolve({ status, headers, body: Buffer.alloc(0) });
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
      const reply = mutated(form(dice.pick(providerForms)), dice);
      const startedMs = performance.now();
      const claim = await read(reply);
      const said = `${reply.status} ${reply.body.toString()}`;
      if (claim !== null && !claim.test(said)) t.fail(`it takes this for a success: ${said}`);
      if (performance.now() - startedMs > msMax) t.fail(`it takes too long: ${said}`);
    }
    t.pass();
  });
}
