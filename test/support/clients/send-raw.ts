import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A reply as received, without decoding. */
export interface ReceivedBytes {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** Status, headers and body as Latin-1 text, for a search for secrets. */
  readonly whole: string;
}

/** Sends a request over a separate connection. Adds no headers except `Host` and a length. */
export async function sendRaw(
  url: string,
  {
    method,
    headers = {},
    body = '',
  }: {
    readonly method: 'GET' | 'HEAD' | 'POST';
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  },
): Promise<ReceivedBytes> {
  const bytes = Buffer.from(body);
  const length = method === 'POST' ? { 'content-length': String(bytes.length) } : {};
  const agent = new Agent({ keepAlive: false });
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent, headers: { ...headers, ...length } }, (reply) => {
      const { statusCode: status = 0, statusMessage = '', rawHeaders } = reply;
      buffer(reply).then((received) => {
        const whole = [status, statusMessage, ...rawHeaders, received.toString('latin1')].join('\n');
        resolve({ status, headers: reply.headers, body: received, whole });
      }, reject);
    });
    sent.on('error', reject).end(method === 'POST' ? bytes : undefined);
  });
}
