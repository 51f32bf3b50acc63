import { createServer, type IncomingHttpHeaders } from 'node:http';
import { symlinkSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import test from 'ava';
import { packageFile } from '../../src/package-files.js';
import { openReader } from '../../src/stores/embedded/files/database.js';
import { read } from '../docs/documents.js';
import {
  grantStorage,
  makeServiceClient,
  storageRequest,
  textOf,
} from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { webhookSecret } from '../support/given/given-webhooks.js';
import { givenDirectory, givenService } from '../support/servers/service-process.js';
import { listen } from '../support/servers/loopback.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
}
interface Exported {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

test('A trace goes from the request to the log, the events, the bucket and the webhook, and its spans to the collector', async (t) => {
  // Given one server that plays the collector, the bucket and the receiver of webhooks
  const spans: Span[] = [];
  const asked: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  const others = createServer((request, response) => {
    void text(request).then((body) => {
      const path = request.url ?? '';
      asked.push({ path, headers: request.headers });
      if (path === '/v1/traces') {
        const { resourceSpans } = JSON.parse(body) as Exported;
        spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      }
      response.writeHead(path.startsWith('/rushes') ? 403 : 200, { 'content-type': 'application/json' });
      response.end('{}');
    });
  });
  const origin = `http://127.0.0.1:${await listen(t, others)}`;
  // And a service that starts as the document says
  const [, script] = /Save this as `otel\.mjs`.*?```js\n(.*?)```/s.exec(read('docs/monitoring.md')) ?? [];
  const directory = givenDirectory(t);
  symlinkSync(fileURLToPath(packageFile('node_modules')), join(directory, 'node_modules'));
  if (script === undefined) return t.fail('the document has no script');
  writeFileSync(join(directory, 'otel.mjs'), script);
  const service = await givenService(t, {
    directory,
    environment: {
      NODE_OPTIONS: `--import ${pathToFileURL(join(directory, 'otel.mjs')).href}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: origin,
      STORAGE_ALLOWED_CIDRS: '127.0.0.0/8',
      WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
      WEBHOOK_URLS: `${origin}/hook ${webhookSecret} storage.*`,
    },
  });
  const client = makeServiceClient(service.url);
  const { headers } = await client.register('ada@example.org', 'Correct-Horse-7');
  const project = await client.makeProject(headers);
  await grantStorage(directory, project);
  // When a caller binds a bucket and tests it in a trace
  const traced = { ...headers, traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  const path = `/api/v1/projects/${project}/storages`;
  const bound = await client.post(path, { ...storageRequest('Rushes'), endpoint: origin }, traced);
  t.is(bound.status, 201, bound.text);
  const storage = textOf(bound.json(), 'id');
  await client.post(`${path}/${storage}/test`, {}, traced);
  // Then the bucket and the receiver get the trace id in a header
  const requestsTo = (prefix: string) => asked.filter((one) => one.path.startsWith(prefix));
  await eventually(
    'calls to bucket and receiver',
    () => requestsTo('/rushes').length > 0 && requestsTo('/hook').length > 1,
  );
  for (const { path: to, headers: sent } of [...requestsTo('/rushes'), ...requestsTo('/hook')]) {
    t.regex(sent['traceparent']?.toString() ?? '', new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`), to);
  }
  // And so have the log and the events
  t.is(await service.stop(), 0, service.output());
  const lines = service
    .output()
    .split('\n')
    .filter((line) => line.includes('"route"'));
  t.true(lines.every((line) => /"trace_id":"[0-9a-f]{32}"/.test(line)));
  t.is(lines.filter((line) => line.includes(traceId)).length, 2, service.output());
  const events = openReader(join(directory, 'events.db'));
  t.teardown(() => events.close());
  const stored = events.query<readonly [Buffer, Buffer]>('SELECT stream, content FROM events').all();
  const correlated = stored
    .filter(([, content]) => content.includes(`"correlation_id":"${traceId}"`))
    .map(([stream]) => stream.toString());
  t.true(correlated.length > 2);
  t.true(
    correlated.every((stream) => stream === `stowage.storage-${storage}`),
    String(correlated),
  );
  // And the collector has spans that name route, command and stream, one below the other
  const spanOf = (name: string) => spans.find((span) => span.traceId === traceId && span.name === name);
  const attribute = (span: Span | undefined, name: string) =>
    span?.attributes.find(({ key }) => key === name)?.value.stringValue;
  const request = spanOf('POST /api/v1/projects/:projectId/storages');
  t.is(request?.parentSpanId, '00f067aa0ba902b7');
  t.is(attribute(request, 'http.route'), '/api/v1/projects/:projectId/storages');
  const command = spanOf('storage Create');
  t.is(command?.parentSpanId, request?.spanId, JSON.stringify(spans.map(({ name }) => name)));
  t.is(attribute(command, 'stowage.command'), 'storage Create');
  t.is(attribute(command, 'stowage.stream'), `storage-${storage}`);
});
