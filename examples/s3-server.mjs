// A small S3 server for trying: one bucket in a folder. It checks signatures (Signature Version 4), and has objects, ranges and a
// list of them, but no uploads in parts, rights or limits. So it is no place for files that matter.
import { Buffer } from 'node:buffer';
import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { URL, URLSearchParams } from 'node:url';

/** A refusal, with the status and the code of S3. */
class Refusal extends Error {
  constructor(status, code) {
    super(code);
    this.status = status;
  }
}

/**
 * Opens the bucket of a folder.
 * @param keys `{ id, secret }`
 * @param origin of the pages that may upload and read
 * @returns a server, which does not listen yet
 */
export async function openBucket({ directory, bucket, region, keys, origin }) {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  /** What is stored, by its key. */
  const objects = new Map();
  for (const name of (await readdir(directory)).filter((file) => file.endsWith('.json'))) {
    const object = JSON.parse(await readFile(join(directory, name), 'utf8'));
    objects.set(object.key, object);
  }

  return createServer((request, response) => {
    const cors = request.headers.origin === origin ? { 'access-control-allow-origin': origin } : {};
    const send = (status, headers = {}, body = '') =>
      response.writeHead(status, { ...cors, ...headers }).end(body);
    answer(request, send, (headers, status, stream) => {
      response.writeHead(status, { ...cors, ...headers });
      return pipeline(stream, response);
    }).catch((error) => {
      if (response.headersSent) response.destroy();
      else
        send(
          error.status ?? 500,
          xml,
          `<Error><Code>${error.status ? error.message : 'InternalError'}</Code></Error>`,
        );
    });
  });

  async function answer(request, send, stream) {
    const { method, headers } = request;
    const url = new URL(request.url, 'http://bucket');
    const query = url.searchParams;
    if (method === 'OPTIONS') {
      if (headers.origin !== origin) throw new Refusal(403, 'AccessForbidden');
      const allowed = headers['access-control-request-headers'] ?? '';
      send(200, {
        'access-control-allow-methods': 'GET, HEAD, PUT',
        'access-control-allow-headers': allowed,
      });
      return;
    }
    checkSignature(request, url, { keys, region });
    const [, name, ...parts] = url.pathname.split('/');
    const key = decodeURIComponent(parts.join('/'));
    if (decodeURIComponent(name) !== bucket) throw new Refusal(404, 'NoSuchBucket');
    if (['cors', 'uploads', 'uploadId'].some((one) => query.has(one)))
      throw new Refusal(501, 'NotImplemented');
    if (key === '' && method === 'GET') send(200, xml, listOf(query));
    else if (method === 'PUT') {
      const { etag } = await keep({ key, type: headers['content-type'], ...(await receive(request)) });
      send(200, { etag });
    } else if (method === 'DELETE') {
      await forget(key);
      send(204);
    } else if (method === 'GET' || method === 'HEAD')
      await serve(objects.get(key), request, query, send, stream);
    else throw new Refusal(501, 'NotImplemented');
  }

  async function serve(object, { method, headers }, query, send, stream) {
    if (object === undefined) throw new Refusal(404, 'NoSuchKey');
    const { size, etag, type, file, modified } = object;
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? [];
    const range =
      from === undefined ? null : [Number(from), Math.min(size - 1, to === '' ? size : Number(to))];
    if (range !== null && range[0] > range[1]) throw new Refusal(416, 'InvalidRange');
    const disposition = query.get('response-content-disposition');
    const described = {
      ...{ etag, 'last-modified': modified, 'accept-ranges': 'bytes' },
      'content-type': query.get('response-content-type') ?? type ?? 'application/octet-stream',
      'content-length': range === null ? size : range[1] - range[0] + 1,
      ...(disposition !== null && { 'content-disposition': disposition }),
      ...(range !== null && { 'content-range': `bytes ${range[0]}-${range[1]}/${size}` }),
    };
    if (method === 'HEAD' || size === 0) send(200, described);
    else {
      const part = range === null ? {} : { start: range[0], end: range[1] };
      await stream(described, range === null ? 200 : 206, createReadStream(join(directory, file), part));
    }
  }

  /** Writes a body to a new file. */
  async function receive(body) {
    const file = randomUUID();
    const digest = createHash('md5');
    let size = 0;
    const count = new Transform({
      transform(chunk, _, done) {
        digest.update(chunk);
        size += chunk.length;
        done(null, chunk);
      },
    });
    try {
      await pipeline(body, count, createWriteStream(join(directory, file)));
    } catch (error) {
      await removeFile({ file });
      throw error;
    }
    return { file, size, etag: `"${digest.digest('hex')}"` };
  }

  /** Makes a file the object of its key. The record appears whole, or not at all. */
  async function keep(received) {
    const object = { ...received, modified: new Date().toUTCString() };
    const record = recordOf(object.key);
    await writeFile(`${record}.new`, JSON.stringify(object));
    await rename(`${record}.new`, record);
    const before = objects.get(object.key);
    objects.set(object.key, object);
    await removeFile(before);
    return object;
  }

  async function forget(key) {
    const object = objects.get(key);
    objects.delete(key);
    await rm(recordOf(key), { force: true });
    await removeFile(object);
  }

  async function removeFile(stored) {
    if (stored !== undefined) await rm(join(directory, stored.file), { force: true });
  }

  function recordOf(key) {
    return join(directory, `${createHash('sha256').update(key).digest('hex')}.json`);
  }

  function listOf(query) {
    const [prefix, after] = [query.get('prefix') ?? '', query.get('continuation-token') ?? ''];
    const limit = Number(query.get('max-keys') ?? 1000);
    const written = query.get('encoding-type') === 'url' ? encodeURIComponent : escapeXml;
    const found = [...objects.values()]
      .filter(({ key }) => key.startsWith(prefix) && Buffer.compare(Buffer.from(key), Buffer.from(after)) > 0)
      .sort((one, other) => Buffer.compare(Buffer.from(one.key), Buffer.from(other.key)));
    const rows = found
      .slice(0, limit)
      .map(
        ({ key, etag, size }) =>
          `<Contents><Key>${written(key)}</Key><ETag>${etag}</ETag><Size>${size}</Size></Contents>`,
      );
    const isCut = found.length > limit;
    const next = isCut
      ? `<NextContinuationToken>${escapeXml(found[limit - 1].key)}</NextContinuationToken>`
      : '';
    return `<ListBucketResult><IsTruncated>${isCut}</IsTruncated>${next}${rows.join('')}</ListBucketResult>`;
  }
}

const xml = { 'content-type': 'application/xml' };

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** Checks a signed request, or a signed URL and its life. Bodies are unsigned, as the service and its URLs have them. */
function checkSignature({ method, headers }, url, { keys, region }) {
  const inHeader = /Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
    headers.authorization ?? '',
  );
  const query = new URLSearchParams(url.search);
  const [, credential, names, signature] = inHeader ?? [
    '',
    ...['X-Amz-Credential', 'X-Amz-SignedHeaders', 'X-Amz-Signature'].map((name) => query.get(name) ?? ''),
  ];
  const time = inHeader === null ? (query.get('X-Amz-Date') ?? '') : (headers['x-amz-date'] ?? '');
  const lifeMs = 1000 * (inHeader === null ? Number(query.get('X-Amz-Expires')) : 900);
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  if (credential !== `${keys.id}/${scope}`) throw new Refusal(403, 'InvalidAccessKeyId');
  const canonical = [
    ...[method, url.pathname, canonicalQuery(url)],
    ...names.split(';').map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}`),
    ...['', names, 'UNSIGNED-PAYLOAD'],
  ].join('\n');
  const digest = createHash('sha256').update(canonical).digest('hex');
  const signingKey = [time.slice(0, 8), region, 's3', 'aws4_request'].reduce(
    (key, part) => createHmac('sha256', key).update(part).digest(),
    `AWS4${keys.secret}`,
  );
  const expected = createHmac('sha256', signingKey)
    .update(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${digest}`)
    .digest();
  const given = Buffer.from(signature, 'hex');
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new Refusal(403, 'SignatureDoesNotMatch');
  const signedAt = Date.parse(
    time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'),
  );
  // A signed header may be as early as it is late; a URL ends with its life.
  if (!(Math.abs(Date.now() - signedAt) <= Math.max(lifeMs, 900_000)) || Date.now() > signedAt + lifeMs)
    throw new Refusal(403, 'AccessDenied');
}

/** The query as it is signed: encoded, and sorted by names. */
function canonicalQuery(url) {
  return url.search
    .slice(1)
    .split('&')
    .filter((part) => part !== '' && !part.startsWith('X-Amz-Signature='))
    .map((part) => (part.includes('=') ? part : `${part}=`))
    .sort()
    .join('&');
}
