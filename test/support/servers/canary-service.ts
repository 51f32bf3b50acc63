import type { ExecutionContext } from 'ava';
import { type Canaries, findCanaries, findCanariesInFiles, type Sighting } from '../examples/canaries.js';
import { makeServiceClient, type ServiceClient, type ServiceReply } from '../clients/service-client.js';
import { makeKeptLog, startInProcess, type ServiceInProcess } from './service-in-process.js';
import { givenDirectory } from './service-process.js';

/** A service that keeps every log line, and every reply to a request through `watched`. */
interface CanaryService {
  readonly service: ServiceInProcess;
  /** For requests whose replies may show the requested secrets. */
  readonly client: ServiceClient;
  /** For requests whose replies must show no secret. */
  readonly watched: ServiceClient;
  /** Ends the service and searches replies, log and files. */
  readonly sightings: (canaries: Canaries) => Promise<readonly Sighting[]>;
}

/** Starts a service that keeps every log line, and every reply to a request through `watched`. */
export async function startCanaryService(
  t: ExecutionContext,
  environment: Readonly<Record<string, string>>,
): Promise<CanaryService> {
  const directory = givenDirectory(t);
  const replies: string[] = [];
  const { lines, log } = makeKeptLog();
  const service = await startInProcess({ directory, log, environment });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= service.close());
  t.teardown(close);
  const client = makeServiceClient(service.url);
  const keep = (reply: ServiceReply): ServiceReply => {
    replies.push(JSON.stringify([...reply.headers]) + reply.text);
    return reply;
  };
  return {
    service,
    client,
    watched: {
      ...client,
      get: async (...request) => keep(await client.get(...request)),
      post: async (...request) => keep(await client.post(...request)),
      send: async (...request) => keep(await client.send(...request)),
    },
    sightings: async (canaries) => {
      // The search must cover a log with lines, and must be able to find plain text in a file.
      t.true(lines.length > 0 && replies.length > 0);
      t.true((await findCanariesInFiles({ type: Buffer.from('UserRegistered') }, directory)).length > 0);
      await close();
      return [
        ...findCanaries(canaries, 'log', Buffer.from(lines.join(''))),
        ...findCanaries(canaries, 'replies', Buffer.from(replies.join(''))),
        ...(await findCanariesInFiles(canaries, directory, ['keys.json'])),
      ];
    },
  };
}

/** Turns texts into canaries. */
export function canariesOf(texts: Readonly<Record<string, string>>): Canaries {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text)]));
}
