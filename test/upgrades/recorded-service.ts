import { fileURLToPath } from 'node:url';
import { readVkeys, verifyLog } from '../../src/areas/audit/verify.js';
import { packageFile } from '../../src/package-files.js';
import type { HeaderFields } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { realClock } from '../support/fakes/clock.js';
import { platformOptions } from '../support/platforms/platform-server.js';
import { stripeKey, stripeSecret } from '../support/platforms/fake-stripe.js';
import type { ServiceInProcess } from '../support/servers/service-in-process.js';
import { startInProcess } from '../support/servers/service-in-process.js';

/** The folder of the data that this release has written. `npm run upgrades:write` writes it again. */
export const folderOf = (release: string): string => fileURLToPath(packageFile(`test/upgrades/${release}/`));
export const release = '1.0.0';

/** The time of the story. Its tokens are good for ten minutes, so every later build reads with them. */
export const storyStartsAt = Date.parse('2026-12-01T08:00:00.000Z');
export const storyEndsAt = storyStartsAt + 300_000;

export const agentSecret = 'the-agents-of-the-story';

/** A reply to a reader of the story. */
export interface RecordedReply {
  readonly as: string;
  readonly path: string;
  readonly body: unknown;
}

/** Opens the service of the story. Its wall clock moves only by `now`; waits and ages take real time. */
export function openRecorded(
  directory: string,
  options: {
    readonly now: () => number;
    readonly environment?: Readonly<Record<string, string>>;
    readonly stripeUrl?: string;
  },
): Promise<ServiceInProcess> {
  const { now, environment = {}, stripeUrl } = options;
  return startInProcess({
    directory,
    clock: { ...realClock, now: () => new Date(now()) },
    environment: {
      NODE_AGENT_SECRET: agentSecret,
      PAYMENT_STRIPE_WEBHOOK_SECRETS: stripeSecret,
      PAYMENT_STRIPE_SECRET_KEY: stripeKey,
      STORAGE_ALLOWED_CIDRS: '127.0.0.0/8',
      ...environment,
    },
    platforms: {
      ...platformOptions,
      allowedCidrs: ['127.0.0.0/8'],
      urls: stripeUrl === undefined ? {} : { stripe: stripeUrl },
    },
  });
}

/** Reads a path as one of the story's readers. Returns null where it gets no JSON resource. */
export async function readAs(url: string, path: string, headers: HeaderFields): Promise<unknown> {
  const reply = await fetch(`${url}${path}`, { headers });
  const text = await reply.text();
  if (reply.status !== 200) return null;
  return reply.headers.get('content-type')?.startsWith('application/json') === true
    ? (JSON.parse(text) as unknown)
    : text;
}

/** Waits until the audit log has signed all events. */
export function signed({ services }: ServiceInProcess): Promise<unknown> {
  return eventually('the audit log is signed', () => {
    const { log, signed } = services.audit.log.status();
    return log !== null && log.size === signed?.size;
  });
}

/** Checks a signed log as an auditor reads it by the published verifier. Returns null or its problems. */
export async function problemsOfLog(
  { url }: ServiceInProcess,
  headers: HeaderFields,
  vkeys: string,
): Promise<string | null> {
  const lines: string[] = [];
  const isVerified = await verifyLog(
    {
      read: async (path) => {
        const reply = await fetch(`${url}/audit/log/${path}`, { headers });
        return Buffer.from(await reply.arrayBuffer());
      },
      keys: readVkeys(vkeys, 1),
      ...{ kept: undefined, witnesses: [], quorum: 0, mostStreams: 10_000, isLive: true },
    },
    (line) => lines.push(line),
  );
  return isVerified ? null : lines.join('\n');
}
