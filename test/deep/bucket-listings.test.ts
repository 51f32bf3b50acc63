/* Generated listings of honest and odd buckets, imported by the service until the bucket says that they end. */
import test from 'ava';
import fc from 'fast-check';
import { makeImportAssets } from '../../src/areas/assets/commands/import-assets.js';
import type { OpenedStorage } from '../../src/areas/storages/commands/open-storage.js';
import { makeHeadObject } from '../../src/areas/storages/bucket/objects/head-object.js';
import { makeListObjects } from '../../src/areas/storages/bucket/objects/list-objects.js';
import { makeStorageUrls } from '../../src/areas/storages/bucket/signing/media-urls.js';
import type { CommandContext } from '../../src/event-sourcing/ports/command-context.js';
import type { OutgoingHttp } from '../../src/outgoing/outgoing-http.js';
import { partial } from '../support/fakes/partial.js';

/* DEEP_SEED=<printed> replays a run; DEEP_BUDGET multiplies its length. */
const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);
const budget = Math.max(0.01, Number(process.env['DEEP_BUDGET'] ?? 1));
const projectId = '00000000-0000-7000-8000-000000000001';
const storageId = '00000000-0000-7000-8000-000000000002';

const context: CommandContext = {
  ...{ commandId: projectId, causationId: projectId, correlationId: projectId, actor: 'a test' },
  time: new Date('2026-11-23T03:00:00Z'),
};

/** How a server writes a key, and whether it says so. The last two say another thing than they do. */
const encodings = {
  none: { declares: false, write: (key: string) => key },
  'url, with + for a space': {
    declares: true,
    write: (key: string) => encodeURIComponent(key).replaceAll('%20', '+'),
  },
  url: { declares: true, write: encodeURIComponent },
  'url without a word': { declares: false, write: encodeURIComponent },
  'none, called url': { declares: true, write: (key: string) => key },
} as const;
const honest = new Set<string>(['none', 'url, with + for a space', 'url']);

const texts = {
  named: (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
  numeric: (text: string) =>
    Array.from(text, (one) => `&#x${(one.codePointAt(0) ?? 0).toString(16)};`).join(''),
  cdata: (text: string) => `<!-- a key --><![CDATA[${text}]]>`,
} as const;

const segment = fc.array(
  fc.constantFrom('a', 'b', 'é', '河', '+', ' ', '%', '&', ';', '%2B', '%41', '<', '.'),
  {
    maxLength: 3,
  },
);
const key = fc
  .array(segment, { minLength: 1, maxLength: 3 })
  .map((all) => all.map((one) => one.join('')).join('/'));

const listing = fc.record({
  // In any order
  keys: fc.uniqueArray(
    key.filter((one) => one !== ''),
    { maxLength: 8 },
  ),
  provider: fc.constantFrom('s3' as const, 'oss' as const, 'cos' as const),
  encoding: fc.constantFrom(...(Object.keys(encodings) as (keyof typeof encodings)[])),
  text: fc.constantFrom(...(Object.keys(texts) as (keyof typeof texts)[])),
  ns: fc.constantFrom('', 's:'),
  basePath: fc.constantFrom('', 'media', 'é +'),
  pageSize: fc.integer({ min: 1, max: 4 }),
  emptyEvery: fc.integer({ min: 1, max: 4 }),
  limit: fc.integer({ min: 1, max: 5 }),
});
type Listing = typeof listing extends fc.Arbitrary<infer Value> ? Value : never;

interface ListedFile {
  readonly key: string;
  readonly size: number;
}

/** Writes a page. @param next the token of the next one; null on the last page */
function pageOf(
  { provider, encoding, text, ns }: Listing,
  files: readonly ListedFile[],
  next: string | null,
): string {
  const { declares, write } = encodings[encoding];
  const element = (tag: string, content: string) => `<${ns}${tag}>${content}</${ns}${tag}>`;
  const objects = files.map(({ key: name, size }) =>
    element('Contents', element('Key', texts[text](write(name))) + element('Size', String(size))),
  );
  const named = provider === 'cos' ? 'NextMarker' : 'NextContinuationToken';
  const isEncoded = declares && provider !== 's3';
  const content = [
    element('IsTruncated', String(next !== null)),
    declares ? element('EncodingType', 'url') : '',
    next === null ? '' : element(named, isEncoded ? encodeURIComponent(next) : next),
    ...objects,
  ].join('');
  return `<${ns}ListBucketResult xmlns${ns === '' ? '' : ':s'}="a">${content}</${ns}ListBucketResult>`;
}

/** A bucket whose pages have opaque tokens, some of them empty. */
function bucketOf(given: Listing): OutgoingHttp {
  const { keys, provider, basePath, pageSize, emptyEvery } = given;
  const whole: readonly ListedFile[] = keys.map((one, index) => ({
    ...{ key: basePath === '' ? one : `${basePath}/${one}`, size: index + 1 },
  }));
  const pages: (readonly ListedFile[])[] = [];
  for (let from = 0; from < whole.length; from += pageSize) {
    if (pages.length % emptyEvery === 0) pages.push([]);
    pages.push(whole.slice(from, from + pageSize));
  }
  const reply = (status: number, body: string, headers = {}) =>
    Promise.resolve({ status, headers, body: Buffer.from(body) });
  return ({ url }) => {
    const { pathname, searchParams } = new URL(url);
    if (!searchParams.has('max-keys')) {
      const found = whole.find((one) => one.key === decodeURIComponent(pathname.slice(1)));
      return found === undefined ? reply(404, '') : reply(200, '', { 'content-length': String(found.size) });
    }
    const name = provider === 'cos' ? 'marker' : 'continuation-token';
    const at = Number((searchParams.get(name) ?? 'page 0').slice('page '.length));
    return reply(200, pageOf(given, pages[at] ?? [], at >= pages.length - 1 ? null : `page ${at + 1}`));
  };
}

/** Imports a listing with the service's own readers; the stores are a list of the added keys. */
async function importAll(given: Listing) {
  const http = bucketOf(given);
  const now = () => new Date('2026-11-23T03:00:00Z');
  const place = { protocol: 'https:', host: 'media.example.org', pathPrefix: '/' } as const;
  const { provider, basePath: base_path, limit } = given;
  const urls = makeStorageUrls(
    { provider, ...place, client: place, bucket: 'media', region: 'a', cdnDomain: '', mode: 'origin' },
    { id: 'an-id', secret: 'a-secret' },
  );
  const added: string[] = [];
  const importAssets = makeImportAssets({
    handler: partial({}),
    assets: partial({
      holding: (_: string, keys: readonly string[]) =>
        Promise.resolve(
          new Map(
            keys
              .filter((one) => added.includes(one))
              .map((one) => [one, { reason: 'already_an_asset', object: null }] as const),
          ),
        ),
      after: () => ({ revision: 0n, resource: partial({}) }),
    }),
    listObjects: makeListObjects({ http, now }),
    headObject: makeHeadObject({ http, now }),
    capacity: { judged: (_, __, append) => append(), requireFresh: () => undefined },
    objectKeys: {
      claiming: ({ keys }) => {
        added.push(...keys);
        return Promise.resolve({ documents: [] } as never);
      },
    },
    payerOf: () => Promise.resolve(projectId),
    openStorage: partial({
      serving: () =>
        Promise.resolve(
          partial<OpenedStorage>({
            storage: partial({
              projectId,
              status: 'active',
              configuration: partial({ provider, base_path }),
            }),
            urls,
          }),
        ),
    }),
  });
  const skipped: { readonly object_key: string; readonly reason: string }[] = [];
  let cursor: Awaited<ReturnType<typeof importAssets>>['next'] = null;
  for (let calls = 0; calls < 200; calls += 1) {
    const page = await importAssets({ projectId, storageId, prefix: '', cursor, limit }, context);
    skipped.push(...page.skipped);
    cursor = page.next;
    if (cursor === null) return { added, skipped };
  }
  throw new Error('the import does not end');
}

test('An import adds what a bucket lists, in any order, on any pages and in any encoding, and never another key', async (t) => {
  t.timeout(3_600_000);
  t.log(`DEEP_SEED=${seed}`);
  const property = fc.asyncProperty(listing, async (given) => {
    const { added, skipped } = await importAll(given);
    const listed = new Set(given.keys);
    if (added.some((one) => !listed.has(one))) throw new Error(`a wrong key: ${added.join(', ')}`);
    // Nothing is lost without a word
    if (added.length + skipped.length !== listed.size)
      throw new Error('an object is neither added nor skipped');
    if (!honest.has(given.encoding)) return;
    const all = new Set([...added, ...skipped.map(({ object_key }) => object_key)]);
    if (all.size !== listed.size || given.keys.some((one) => !all.has(one))) throw new Error('another set');
    const odd = skipped.filter(({ object_key, reason }) =>
      reason === 'key_unconfirmed'
        ? // No client asks for such a key: a URL has no segments of dots.
          !/(?:^|\/)\.{1,2}(?:\/|$)/.test(object_key)
        : !/^(?:not_a_file|key_not_possible|name_not_possible)$/.test(reason),
    );
    if (odd.length > 0) throw new Error(JSON.stringify(odd));
  });
  await t.notThrowsAsync(fc.assert(property, { seed, numRuns: Math.ceil(100_000 * budget) }));
});
