import type { IncomingMessage } from 'node:http';
import { makeGatheredBytes } from '../../kit/gathered-bytes.js';
import { shed } from '../access/admission.js';
import { HttpError } from '../replies/error-codes.js';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type EncodedBody, type PreparedBody, weakTag } from '../replies/reply.js';

/** The encodings in the order in which the service prefers them. */
const encodings = ['br', 'gzip'] as const satisfies readonly (keyof EncodedBody)[];

/** What senders write over plain bytes: no coding, or a charset. */
const plainNames = new Set(['', 'identity', 'none', 'utf-8', 'utf8']);

/** Returns whether this `Content-Encoding` says that the bytes are encoded. */
export function saysEncoded(field: string | undefined): boolean {
  return field !== undefined && !plainNames.has(field.trim().toLowerCase());
}

/**
 * Prepares a text that is made once and sent often, in all encodings. Its tag is weak, because the encodings share it
 * (RFC 9110, 8.8.3.3).
 */
export function prepareText(text: string): Pick<PreparedBody, 'bytes' | 'tag' | 'encoded'> {
  const bytes = Buffer.from(text);
  let made: EncodedBody | null = null;
  return { bytes, tag: weakTag(text), encoded: () => (made ??= encodeBody(bytes)) };
}

function encodeBody(bytes: Buffer): EncodedBody {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 6, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return { br: brotliCompressSync(bytes, { params }), gzip: gzipSync(bytes) };
}

/**
 * Returns the encoding for a client that sends this `Accept-Encoding` (RFC 9110, 12.5.3); null for the plain bytes. A coding with
 * the weight 0 is refused. Other weights do not change the order.
 */
export function acceptedEncoding(field: string | undefined): keyof EncodedBody | null {
  if (field === undefined) return null;
  const accepted = new Set<string>();
  for (const part of field.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((text) => text.trim());
    if (!parameters.some((parameter) => /^q=0(\.0{1,3})?$/.test(parameter))) accepted.add(coding);
  }
  return encodings.find((coding) => accepted.has(coding)) ?? null;
}

/**
 * Of bodies that arrive, in this process. No limit of a caller bounds them, because the caller is known only after them. A body of a
 * sender who is not slow has a few packets, which arrive together.
 */
const arrivingMax = 32 * 1024 * 1024;

interface Arriving {
  bytes: number;
  readonly refuse: (error: HttpError) => void;
}

/** The oldest first. */
const arriving = new Set<Arriving>();
let arrivingBytes = 0;

/**
 * Reads the bytes as they were sent.
 * @throws HttpError 413 for more than the limit; 400 when the client cut the body off; 503 for the oldest body while those that
 * arrive are too large together
 */
export async function readRawBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const { headers } = request;
  if (Number(headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax);
  return new Promise((resolve, reject) => {
    const gathered = makeGatheredBytes();
    const end = (settle: () => void): void => {
      request.off('data', take).off('end', finish).off('error', breakOff).off('close', breakOff);
      arriving.delete(body);
      arrivingBytes -= body.bytes;
      settle();
    };
    const refuse = (error: HttpError): void => {
      // The rest of the body is discarded until the reply has been sent.
      end(() => reject(error));
      request.resume();
    };
    const body: Arriving = { bytes: 0, refuse };
    const take = (chunk: Buffer): void => {
      body.bytes = gathered.add(chunk);
      arrivingBytes += chunk.length;
      if (body.bytes > bytesMax) refuse(tooLarge(bytesMax));
      for (const oldest of arriving) {
        if (arrivingBytes <= arrivingMax) break;
        oldest.refuse(shed);
      }
    };
    const finish = (): void => {
      end(() => resolve(gathered.bytes()));
    };
    const breakOff = (): void => {
      end(() => reject(new HttpError('invalid_request', 'the body was cut off')));
    };
    arriving.add(body);
    request.on('data', take).on('end', finish).on('error', breakOff).on('close', breakOff);
  });
}

/** Makes the error for a body beyond its limit. */
function tooLarge(bytesMax: number): HttpError {
  return new HttpError('payload_too_large', `the body is larger than ${bytesMax} bytes`);
}
