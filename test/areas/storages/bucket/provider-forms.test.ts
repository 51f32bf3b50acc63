import test from 'ava';
import { corsRuleFields, corsRuleXml } from '../../../../src/areas/storages/domain/delivery/cors-rule.js';
import { withCorsRule } from '../../../../src/areas/storages/bucket/probing/bucket-cors.js';
import { makeListObjects } from '../../../../src/areas/storages/bucket/objects/list-objects.js';
import { makeMultipart } from '../../../../src/areas/storages/bucket/objects/multipart.js';
import { readStorageError } from '../../../../src/areas/storages/bucket/probing/provider-codes.js';
import type { OutgoingHttp } from '../../../../src/outgoing/outgoing-http.js';
import { type ProviderForms, providerForms } from './provider-forms.js';
import { bucketUrls } from '../../../support/given/bucket-urls.js';

const now = () => new Date('2026-11-23T03:00:00Z');

function replying(body: string): OutgoingHttp {
  return () => Promise.resolve({ status: 200, headers: {}, body: Buffer.from(body) });
}

const bucketOf = (provider: ProviderForms['provider']) =>
  bucketUrls({ provider, protocol: 'https:', host: 'media.example.org', pathPrefix: '/' });

for (const forms of providerForms) {
  const { server, source, provider } = forms;
  const target = { urls: bucketOf(provider), key: 'a.jpg', bucketUploadId: 'u-1' };
  const multipart = (body: string) => makeMultipart({ http: replying(body), now });

  test(`The service reads the lists of ${server} (${source})`, async (t) => {
    const listObjects = makeListObjects({ http: replying(forms.list), now });
    const answer = await listObjects({ urls: target.urls, provider, prefix: '', token: null, limit: 2 });
    const objects = answer.kind === 'listed' ? answer.objects : [];
    t.deepEqual(
      objects.map(({ readings, size, entity_tag }) => [readings[0], size, entity_tag]),
      [
        ['a b+c&é.jpg', 5, 'a-tag'],
        ['z.jpg', 7, 'a-tag'],
      ],
    );
    t.like(answer, { kind: 'listed', next: null });
  });

  test(`The service reads the uploads in parts of ${server}`, async (t) => {
    t.is(await multipart(forms.started).start({ ...target, mediaType: 'image/jpeg' }), 'u-1');
    t.deepEqual(await multipart(forms.parts).listParts({ ...target, after: 0, limit: 1_000 }), [
      { part_number: 1, size: 9, entity_tag: '"t1"' },
      { part_number: 2, size: 3, entity_tag: '"t2"' },
    ]);
    t.is(await multipart(forms.joined).complete({ ...target, parts: [] }), 'done');
    t.deepEqual(await multipart(forms.error).complete({ ...target, parts: [] }), { failure: 'away' });
  });

  test(`The service reads the errors and the CORS rules of ${server}`, async (t) => {
    t.is((await readStorageError(Buffer.from(forms.error)))?.code, 'NoSuchKey');
    const merged = await withCorsRule(Buffer.from(forms.cors), ['https://app.example'], corsRuleFields);
    const xml = merged.is === 'changed' ? merged.xml : '';
    const rule =
      '<CORSRule><AllowedOrigin>https://shop.example</AllowedOrigin><AllowedMethod>GET</AllowedMethod><AllowedHeader>*</AllowedHeader></CORSRule>';
    t.true(xml.includes(`${rule}${corsRuleXml(['https://app.example'])}`), xml);
    t.is((await withCorsRule(Buffer.from(xml), ['https://app.example'], corsRuleFields)).is, 'unchanged');
  });
}

/** Documents that are not all of a reply in XML: the service concludes nothing from them. */
const unusable: readonly (readonly [what: string, change: (xml: string) => string])[] = [
  ['a DTD', (xml) => `<!DOCTYPE a [<!ENTITY e "a">]>${xml.replace(/^<\?.*?\?>/, '')}`],
  ['an entity that XML does not define', (xml) => xml.replace('</Bucket>', '&nbsp;</Bucket>')],
  ['a second root element', (xml) => `${xml}<a/>`],
  ['text between its elements', (xml) => xml.replace('<Bucket>', 'canary<Bucket>')],
  ['bytes that are no UTF-8', (xml) => xml.replace('media', '\udc00')],
  ['another encoding', (xml) => xml.replace('UTF-8', 'UTF-16')],
  ['nesting', (xml) => xml.replace('<Bucket>', `${'<a>'.repeat(20)}${'</a>'.repeat(20)}<Bucket>`)],
  ['no end', (xml) => xml.slice(0, -1)],
  ['nothing', () => ''],
  ['a page of a proxy', () => '<html><body><hr></body></html>'],
];

for (const [what, change] of unusable) {
  test(`A reply with ${what} neither starts nor joins an upload`, async (t) => {
    const [forms] = providerForms;
    if (forms === undefined) throw new Error('there is no provider');
    const target = { urls: bucketOf('s3'), key: 'a.jpg', bucketUploadId: 'u-1' };
    // Bytes in Latin-1 where the change has left a lone surrogate.
    const http = (xml: string): OutgoingHttp => {
      const [before = '', after] = change(xml).split('\udc00');
      const bytes = [
        Buffer.from(before),
        ...(after === undefined ? [] : [Buffer.from([0xeb]), Buffer.from(after)]),
      ];
      return () => Promise.resolve({ status: 200, headers: {}, body: Buffer.concat(bytes) });
    };
    const joined = forms.started.replaceAll('InitiateMultipartUploadResult', 'CompleteMultipartUploadResult');
    const starting = makeMultipart({ http: http(forms.started), now });
    const joining = makeMultipart({ http: http(joined), now });
    t.deepEqual(await starting.start({ ...target, mediaType: 'image/jpeg' }), { failure: 'away' });
    t.deepEqual(await joining.complete({ ...target, parts: [] }), { failure: 'away' });
  });
}

test('All pages of a list of parts are read, and a page that repeats its marker ends the reading', async (t) => {
  const page = (number: number, more: string) =>
    `<ListPartsResult><Part><PartNumber>${number}</PartNumber><Size>9</Size><ETag>"t"</ETag></Part>${more}</ListPartsResult>`;
  const next = (marker: number) =>
    `<IsTruncated>true</IsTruncated><NextPartNumberMarker>${marker}</NextPartNumberMarker>`;
  const markers: (string | null)[] = [];
  const pages = Array.from({ length: 30 }, (_, n) =>
    page(n + 1, n < 29 ? next(n + 1) : '<IsTruncated>false</IsTruncated>'),
  );
  const http: OutgoingHttp = ({ url }) => {
    markers.push(new URL(url).searchParams.get('part-number-marker'));
    return Promise.resolve({ status: 200, headers: {}, body: Buffer.from(pages[markers.length - 1] ?? '') });
  };
  const multipart = makeMultipart({ http, now });
  const target = { urls: bucketOf('s3'), key: 'a.jpg', bucketUploadId: 'u-1' };
  const listed = await multipart.listParts({ ...target, after: 0, limit: 1_000 });
  t.deepEqual(
    markers,
    pages.map((_, n) => String(n)),
  );
  t.deepEqual(
    'failure' in listed ? listed : listed.map((part) => part.part_number),
    pages.map((_, n) => n + 1),
  );

  const repeating = makeMultipart({ http: replying(page(1, next(0))), now });
  t.deepEqual(await repeating.listParts({ ...target, after: 0, limit: 1_000 }), { failure: 'away' });
});
