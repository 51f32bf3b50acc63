import { hash } from 'node:crypto';

type Objects = ReadonlyMap<string, { readonly body: Buffer }>;

/** Lists a bucket as S3 and OSS (ListObjectsV2) and COS (GET Bucket) do; the token is a key. @param url of the bucket itself */
export function fakeList(objects: Objects, url: URL): string {
  const { pathname: bucket, searchParams: query } = url;
  const [prefix, after] = [
    query.get('prefix') ?? '',
    query.get('continuation-token') ?? query.get('marker') ?? '',
  ];
  const limit = Number(query.get('max-keys') ?? '1000');
  const isEncoded = query.get('encoding-type') === 'url';
  const found = [...objects]
    .filter(([path]) => path.startsWith(bucket))
    .map(([path, { body }]) => ({ key: decodeURIComponent(path.slice(bucket.length)), body }))
    .filter(({ key }) => key.startsWith(prefix) && compare(key, after) > 0)
    .sort((one, other) => compare(one.key, other.key));
  const entries = found.slice(0, limit).map(({ key, body }) => {
    const written = isEncoded ? encodeURIComponent(key) : escaped(key);
    return `<Contents><Key>${written}</Key><ETag>"${hash('md5', body)}"</ETag><Size>${body.length}</Size></Contents>`;
  });
  const encoding = isEncoded ? '<EncodingType>url</EncodingType>' : '';
  const isCut = `<IsTruncated>${String(found.length > limit)}</IsTruncated>`;
  const last = found[limit - 1]?.key ?? '';
  const token = query.has('list-type')
    ? `<NextContinuationToken>${escaped(last)}</NextContinuationToken>`
    : `<NextMarker>${isEncoded ? encodeURIComponent(last) : escaped(last)}</NextMarker>`;
  return `<?xml version="1.0"?><ListBucketResult>${encoding}${isCut}${found.length > limit ? token : ''}${entries.join('')}</ListBucketResult>`;
}

function compare(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
