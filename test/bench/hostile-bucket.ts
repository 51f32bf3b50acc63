import { createServer } from 'node:http';
import { hash } from 'node:crypto';

// A bucket whose owner wants the service to work for its replies: node hostile-bucket.js <port>

const port = Number(process.argv[2]);
/** What a test wrote, for its reads. */
const written = new Map<string, Buffer>();

/** 64 KiB of rules that never end. */
const rules = `<CORSConfiguration>${'<CORSRule>'.repeat(6_540)}`;
/** As many lines as a playlist may have, none of which says anything. It has no end, so no process keeps it for long. */
const playlist = `#EXTM3U\n${'\n'.repeat(49_990)}`;
/** A list of 200 objects, each of which is an asset after the first import. */
const objects = Array.from({ length: 200 }, (_, n) => {
  const key = `videos/${String(n).padStart(3, '0')}.m3u8`;
  return `<Contents><Key>${key}</Key><ETag>"${hash('md5', key)}"</ETag><Size>50000</Size></Contents>`;
});
const list = `<ListBucketResult><IsTruncated>false</IsTruncated>${objects.join('')}</ListBucketResult>`;

createServer((request, response) => {
  const { method = '', url = '' } = request;
  const [path = '', query = ''] = url.split('?');
  if (method === 'PUT') {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      written.set(path, Buffer.concat(chunks));
      response.end();
    });
    return;
  }
  // A POST is an outgoing event.
  if (method === 'DELETE' || method === 'POST') {
    if (method === 'DELETE') written.delete(path);
    request.resume();
    response.writeHead(204).end();
    return;
  }
  const body = bodyOf(path, query);
  response.writeHead(200, { 'content-length': Buffer.byteLength(body), etag: `"${hash('md5', body)}"` });
  response.end(method === 'HEAD' ? undefined : body);
}).listen(port, '127.0.0.1', () => process.stdout.write('listening\n'));

function bodyOf(path: string, query: string): string | Buffer {
  const parameters = new URLSearchParams(query);
  if (parameters.has('cors')) return rules;
  if (parameters.has('max-keys')) return list;
  return written.get(path) ?? playlist;
}
