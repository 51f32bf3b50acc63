import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

interface TextReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const agent = new Agent({ keepAlive: true });

/**
 * Sends a request as `fetch` does, for a quarter of its CPU time: the tests over HTTP send thousands. It follows no redirect.
 * @throws Error of the connection
 */
export async function sendRequest(
  url: URL,
  {
    method,
    headers,
    body,
  }: {
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string | Uint8Array | undefined;
  },
): Promise<TextReply> {
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const own: Record<string, string> = {
    accept: '*/*',
    ...(typeof body === 'string' ? { 'content-type': 'text/plain;charset=UTF-8' } : {}),
    ...(bytes === undefined ? {} : { 'content-length': String(bytes.length) }),
  };
  for (const [name, value] of Object.entries(headers)) own[name.toLowerCase()] = value;
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent, headers: own }, (reply) => {
      const { statusCode: status = 0, rawHeaders } = reply;
      const received = new Headers();
      for (let at = 0; at < rawHeaders.length; at += 2)
        received.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
      text(reply).then((all) => resolve({ status, headers: received, text: all }), reject);
    });
    sent.on('error', reject).end(bytes);
  });
}
