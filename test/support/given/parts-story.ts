import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { ExecutionContext } from 'ava';
import { mediaLinksReply, uploadPartsReply, type UploadPartsReply } from '../clients/read-replies.js';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import type { OutgoingHttp, OutgoingOptions } from '../../../src/outgoing/outgoing-http.js';
import { textOf } from '../clients/service-client.js';
import type { StorageProject } from './storage-project.js';

/** 200 MB: 11 parts of 16 MiB, and a smaller one. */
const fileBytes = 200_000_000;

/**
 * Uploads a file of 200 MB in parts. The connection breaks in the middle of a part, and later the browser forgets all
 * that it knew. Each time the upload goes on with the parts that the bucket does not have.
 */
export async function tellPartsStory(
  t: ExecutionContext,
  scene: {
    readonly project: StorageProject;
    readonly browser: OutgoingHttp;
    /** How the connection that breaks finds the bucket. */
    readonly outgoing: OutgoingOptions;
  },
): Promise<void> {
  const { path, send } = scene.project;
  const call = async (method: string, to: string, body?: JsonObject): Promise<JsonObject> => {
    const reply = await send(method, to, body);
    t.true(reply.status === 200 || reply.status === 201, `${method} ${to}: ${reply.text}`);
    return reply.json();
  };
  const added = await call('POST', `${path}/assets`, {
    ...{ name: 'Rhine, all day', object_key: '2026/all day.mp4', media_type: 'video/mp4', size: fileBytes },
  });
  const asset = `${path}/assets/${textOf(added, 'id')}`;
  const open = async (): Promise<UploadPartsReply> =>
    uploadPartsReply.parse(await call('POST', `${asset}/uploads`, {}));
  let uploaded = 0;
  const put = async (parts: UploadPartsReply['parts'], count: number): Promise<void> => {
    for (const { part_number, size, url } of parts.slice(0, count)) {
      const headers = { 'content-length': String(size) };
      const body = contentOf(part_number, size);
      const { status } = await scene.browser({ method: 'PUT', url: url ?? '', headers, body });
      t.is(status, 200, `part ${part_number}`);
      uploaded += 1;
    }
  };
  const missing = ({ parts }: UploadPartsReply): UploadPartsReply['parts'] =>
    parts.filter(({ url }) => url !== null);

  // Given an upload whose connection breaks in the middle of a part
  const first = await open();
  t.is(first.part_count, Math.ceil(fileBytes / first.part_size));
  t.is(first.next_after, null);
  await put(first.parts, 4);
  const [broken] = first.parts.slice(4);
  await breakOff(broken?.url ?? '', contentOf(5, broken?.size ?? 0), scene.outgoing);

  // When the browser asks for the parts that are missing
  const second = uploadPartsReply.parse(await call('GET', `${asset}/uploads/${first.id}`));
  t.deepEqual(missing(second)[0]?.part_number, 5);
  await put(missing(second), 3);

  // And a browser that knows nothing of the upload gets the same one
  const third = await open();
  t.is(third.id, first.id);
  t.deepEqual(missing(third)[0]?.part_number, 8);
  await put(missing(third), Infinity);
  t.is(uploaded, first.part_count, 'no part twice');

  // Then the object is whole
  const complete = await call('POST', `${asset}/uploads/${first.id}/complete`, {});
  t.like(complete, { upload: 'complete', object: { size: fileBytes } });
  const { media } = mediaLinksReply.parse(await call('POST', `${asset}/media`, {}));
  const url = media[0]?.url ?? '';
  for (const from of [0, first.part_size - 20, 4 * first.part_size + 5, fileBytes - 40]) {
    const part = await scene.browser({
      method: 'GET',
      url,
      headers: { range: `bytes=${from}-${from + 39}` },
    });
    t.is(part.status, 206);
    t.is(part.headers['content-range'], `bytes ${from}-${from + 39}/${fileBytes}`);
    t.deepEqual(part.body, bytesAt(from, 40, first.part_size));
  }
}

/** Returns the content of a part: each 16 bytes name the part and the place in it. */
function contentOf(partNumber: number, size: number): Buffer {
  const content = Buffer.alloc(Math.ceil(size / 16) * 16);
  for (let at = 0; at < content.length; at += 16) {
    content.writeUInt32BE(partNumber, at);
    content.writeUInt32BE(at, at + 4);
  }
  return content.subarray(0, size);
}

function bytesAt(from: number, length: number, partSize: number): Buffer {
  const bytes = Array.from({ length }, (_, index) => {
    const place = from + index;
    const inPart = place % partSize;
    return contentOf16(Math.floor(place / partSize) + 1, inPart - (inPart % 16))[inPart % 16] ?? 0;
  });
  return Buffer.from(bytes);
}

function contentOf16(partNumber: number, at: number): Buffer {
  const block = Buffer.alloc(16);
  block.writeUInt32BE(partNumber, 0);
  block.writeUInt32BE(at, 4);
  return block;
}

/** Sends the first half of a part, and then closes the connection. */
async function breakOff(url: string, body: Buffer, { lookup, ca }: OutgoingOptions): Promise<void> {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  await new Promise<void>((resolve) => {
    const request = send(url, {
      method: 'PUT',
      headers: { 'content-length': String(body.length) },
      agent: false,
      ...(ca === undefined ? {} : { ca }),
      ...(lookup === undefined
        ? {}
        : {
            lookup: ((hostname, _options, callback) => {
              lookup(hostname, (error, addresses) => {
                callback(error, [...addresses]);
              });
            }) satisfies LookupFunction,
          }),
    });
    request.on('error', () => undefined);
    request.on('close', resolve);
    request.write(body.subarray(0, body.length / 2), () => request.destroy());
  });
}
