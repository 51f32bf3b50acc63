import { connect } from 'node:net';
import { takeReply, type RawReply } from './http-replies.js';

export interface PipelinedRequest {
  readonly method: string;
  /** The path and query as they are sent. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Sends requests in a pipeline on one connection (RFC 9112, 9.3.2). This costs a fraction of separate requests, for
 * tests that send thousands. Replies come in the order of the requests. No request may be a HEAD. Rejects when the
 * connection ends early, or when no byte comes for a minute.
 */
export function askInPipeline(
  port: number,
  requests: readonly PipelinedRequest[],
): Promise<readonly RawReply[]> {
  const replies: RawReply[] = [];
  return new Promise((resolve, reject) => {
    if (requests.length === 0) {
      resolve([]);
      return;
    }
    const socket = connect({ port, host: '127.0.0.1' });
    let received = Buffer.alloc(0);
    const fail = (why: string): void => {
      socket.destroy();
      const next = requests[replies.length];
      reject(new Error(`${why}, waiting for ${next?.method ?? ''} ${next?.path ?? ''}`));
    };
    socket.setTimeout(600_000, () => {
      fail('no answer within ten minutes');
    });
    socket.once('error', (error) => {
      fail(error.message);
    });
    socket.once('close', () => {
      fail('the connection ended early');
    });
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      for (let next = takeReply(received); next !== null; next = takeReply(received)) {
        replies.push(next.reply);
        received = received.subarray(next.length);
      }
      if (replies.length < requests.length) return;
      resolve(replies);
      socket.removeAllListeners('close').destroy();
    });
    for (const request of requests) socket.write(render(request));
  });
}

function render({ method, path, headers, body }: PipelinedRequest): string {
  const lines = Object.entries({
    host: 'localhost',
    ...headers,
    ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
}
