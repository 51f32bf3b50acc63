import { setTimeout as wait } from 'node:timers/promises';
import { makeServiceClient, type ServiceReply } from '../support/clients/service-client.js';

// Sends as much as the limits of an account allow, in a separate process, so that its work delays no measurement:
// node hostile-child.js <url> <seconds> <access token>...

const [url = '', seconds = '0', ...tokens] = process.argv.slice(2);
const client = makeServiceClient(url);
const loopsOfSession = 8;
const end = performance.now() + Number(seconds) * 1_000;

type Send = (headers: Readonly<Record<string, string>>) => Promise<ServiceReply>;

/** The most expensive requests of an account with many projects: lists with totals, and a durable write of its stream. */
const worst: readonly Send[] = [
  (headers) => client.get('/api/v1/projects?limit=200', headers),
  (headers) => client.get('/api/v1/auth/me', headers),
  (headers) =>
    client.send('/api/v1/auth/me', {
      method: 'PATCH',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"nickname":"x"}',
    }),
  (headers) => client.post('/api/v1/auth/reauthenticate', { password: 'Correct-Horse-9' }, headers),
];

const counts = await Promise.all(
  tokens.flatMap((token) =>
    Array.from({ length: loopsOfSession }, (_, n) => sendUntilEnd(n, { authorization: `Bearer ${token}` })),
  ),
);
const admitted = counts.reduce((sum, count) => sum + count, 0);
if (admitted === 0) throw new Error('no request was admitted');
process.stdout.write(String(admitted));

/** Returns the number of admitted requests. A refused one is repeated when the reply says. */
async function sendUntilEnd(first: number, headers: Readonly<Record<string, string>>): Promise<number> {
  let admitted = 0;
  for (let n = first; performance.now() < end; n += 1) {
    const { status, headers: reply, text } = await (worst[n % worst.length] as Send)(headers);
    if (status < 400) admitted += 1;
    else if (status === 429 || status === 503) await wait(Number(reply.get('retry-after')) * 1_000);
    else throw new Error(`a request was answered ${status}: ${text}`);
  }
  return admitted;
}
