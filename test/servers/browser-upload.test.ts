/*
 * Runs the uploader of docs/uploads.md#uploads-in-parts in Chromium, against the S3 server that S3_ENDPOINT names, if S3_MULTIPART says that
 * it has uploads in parts. The browser reaches the bucket through a proxy at another origin, which adds the CORS headers that a bucket's rule sets, and cuts connections.
 */
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request as send, type ServerResponse } from 'node:http';
import test from 'ava';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { givenBrowser, missingBrowser } from '../support/clients/browser.js';
import { makeServiceClient, textOf } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { makeBucket, s3Server } from '../support/servers/s3-server.js';
import { givenInProcess } from '../support/servers/service-in-process.js';
import { serve } from '../support/servers/loopback.js';

const hasParts = s3Server !== undefined && process.env['S3_MULTIPART'] === 'yes';
const missing = hasParts ? missingBrowser() : 'S3_ENDPOINT is not set, or S3_MULTIPART is not "yes"';
const mebibyte = 2 ** 20;
const fileSize = 40 * mebibyte;

/** Passes a request on with its host, which the signature covers, and adds headers to the reply. */
function passOn(
  target: string,
  request: IncomingMessage,
  response: ServerResponse,
  added: Readonly<Record<string, string>> = {},
): void {
  const { method = '', url = '', headers } = request;
  const onward = send(new URL(url, target), { method, headers }, (reply) => {
    response.writeHead(reply.statusCode ?? 502, { ...reply.headers, ...added });
    reply.pipe(response);
  });
  onward.on('error', () => response.destroy());
  request.on('error', () => onward.destroy());
  request.pipe(onward);
}

/** The uploader of the examples. */
const uploader = (): Promise<string> =>
  readFile('examples/upload-in-parts.js', 'utf8').then((code) => code.replace('export ', ''));

/** Starts an upload in the page, and leaves its end in `window.ended`. */
const begin = (code: string): string => `
  const [service, asset, token, size] = arguments;
  ${code}
  const call = async (method, path, body) => {
    const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
    const reply = await fetch(service + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    if (!reply.ok) throw new Error(method + ' ' + path + ': ' + reply.status + ' ' + (await reply.text()));
    return reply.json();
  };
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 4096) bytes[at] = at / 4096;
  window.ended = null;
  window.stored = 0;
  uploadInParts(new Blob([bytes]), asset, call, { atOnce: 1, onProgress: (stored) => { window.stored = stored; } }).then(
    (done) => { window.ended = done.upload; },
    (error) => { window.ended = String(error); },
  );`;

if (missing !== null || s3Server === undefined) {
  // eslint-disable-next-line ava/no-skip-test, ava/require-assertion -- the output names what did not run, and why
  test.skip(`The uploader in a browser: ${missing ?? ''}`, () => undefined);
} else {
  const server = s3Server;
  test('The uploader of the document goes on after a cut connection and after the page was closed', async (t) => {
    // Given a bucket behind a CORS rule, a service, and a page of a third origin
    const puts: string[] = [];
    /** The connections that wait. */
    const held: IncomingMessage[] = [];
    const bucketOrigin = await serve(t, (request, response) => {
      const cors = {
        'access-control-allow-origin': request.headers.origin ?? '*',
        'access-control-allow-methods': 'PUT, GET',
      };
      if (request.method === 'OPTIONS') {
        response.writeHead(204, cors).end();
        return;
      }
      const part = new URL(request.url ?? '', 'http://bucket').searchParams.get('partNumber');
      if (request.method === 'PUT' && part !== null) {
        puts.push(part);
        // The first attempt at the first part is cut, and the second part waits until the page is closed
        if (puts.length === 1) {
          request.socket.destroy();
          return;
        }
        if (part === '2' && held.length === 0) {
          held.push(request);
          request.resume();
          return;
        }
      }
      passOn(server.endpoint, request, response, cors);
    });
    const bucket = await makeBucket(t, server);
    const service = await givenInProcess(t, {
      environment: { STORAGE_ALLOWED_CIDRS: server.allowedCidrs },
    });
    const page = await serve(t, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Upload</title>');
    });
    const client = makeServiceClient(service.url);
    const { headers } = await client.register('ada@example.org', 'Correct-Horse-9');
    const make = async (path: string, body: JsonObject): Promise<string> => {
      const reply = await client.post(path, body, headers);
      t.is(reply.status, 201, reply.text);
      return textOf(reply.json(), 'id');
    };
    const projectId = await make('/api/v1/projects', { name: 'Rivers' });
    const at = `/api/v1/projects/${projectId}`;
    await service.services.commands.grantEntitlement(
      { projectId, entitlement: 'allow_s3', source: 'operator' },
      {
        ...{ commandId: crypto.randomUUID(), causationId: 'a', correlationId: 'a', actor: 'operator' },
        time: new Date(),
      },
    );
    const storage_id = await make(`${at}/storages`, {
      ...{
        name: 'Media',
        provider: 's3',
        bucket: bucket.name,
        endpoint: bucketOrigin,
        region: server.region,
      },
      credentials: { access_key: server.accessKey, secret_key: server.secretKey },
    });
    const file = { name: 'Rhine', object_key: 'rhine.bin', media_type: 'application/zip', size: fileSize };
    const asset = `${at}/assets/${await make(`${at}/assets`, { ...file, storage_id })}`;

    // When the file is longer than its asset, then no byte leaves the page
    const browser = await givenBrowser(t);
    const code = begin(await uploader());
    const token = String(headers['authorization']).replace('Bearer ', '');
    await browser.open(page);
    await browser.run(code, service.url, asset, token, fileSize + mebibyte);
    await browser.until('return window.ended !== null');
    t.regex(String(await browser.run('return window.ended')), /the file has \d+ bytes, its asset \d+/);
    t.deepEqual(puts, []);

    // When the page is closed while the second part is under way
    await browser.run(code, service.url, asset, token, fileSize);
    await browser.until(`return window.stored === ${16 * mebibyte} || window.ended !== null`);
    t.is(await browser.run('return window.ended'), null);
    await eventually('the second part is under way', () => held.length > 0);
    await browser.open(`${page}/again`);
    // and the client calls the function again
    await browser.run(code, service.url, asset, token, fileSize);
    await browser.until('return window.ended !== null');

    // Then each part was stored once, and the asset is complete
    t.is(await browser.run('return window.ended'), 'complete');
    t.deepEqual(puts, ['1', '1', '2', '2', '3']);
    const uploaded = (await client.get(asset, headers)).json();
    t.like(uploaded, { upload: 'complete', object: { size: fileSize } });
    const [link] = (await client.post(`${asset}/media`, {}, headers)).json()['media'] as { url: string }[];
    const got = new Uint8Array(await (await fetch(link?.url ?? '')).arrayBuffer());
    t.is(got.length, fileSize);
    const wrong = got.findIndex((byte, index) => byte !== (index % 4096 === 0 ? (index / 4096) % 256 : 0));
    t.is(wrong, -1);
  });
}
