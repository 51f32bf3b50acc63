import type { IncomingMessage } from 'node:http';
import { HttpError } from '../replies/error-codes.js';

/** src/areas/payments/README.md#payment-callbacks */
export const rawBytesMax = 256 * 1024;

/** Reads the bytes as they were sent. @throws HttpError 413 for more than 256 KiB, 400 when the client cut the body off */
export async function readRawBody(request: IncomingMessage): Promise<Buffer> {
  const { headers } = request;
  if (Number(headers['content-length'] ?? 0) > rawBytesMax) throw tooLarge();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (settle: () => void): void => {
      request.off('data', take).off('end', finish).off('error', breakOff).off('close', breakOff);
      settle();
    };
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= rawBytesMax) return;
      // The rest of the body is discarded until the reply has been sent.
      end(() => {
        reject(tooLarge());
      });
      request.resume();
    };
    const finish = (): void => {
      end(() => {
        resolve(Buffer.concat(chunks));
      });
    };
    const breakOff = (): void => {
      end(() => {
        reject(new HttpError('invalid_request', 'the body was cut off'));
      });
    };
    request.on('data', take).on('end', finish).on('error', breakOff).on('close', breakOff);
  });
}

function tooLarge(): HttpError {
  return new HttpError('payload_too_large', `the body is larger than ${rawBytesMax} bytes`);
}
