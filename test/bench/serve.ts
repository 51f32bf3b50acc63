import { writeFileSync } from 'node:fs';
import { defaultLimits } from '../../src/security/rates/limits.js';
import {
  freePort,
  type ServiceProcess,
  startService,
  type StartOptions,
} from '../support/servers/service-process.js';

/** Starts the service as operators run it, without limits of rates, so that few users can send all requests. */
export async function serveUnlimited(
  directory: string,
  { environment = {}, node }: Pick<StartOptions, 'environment' | 'node'> = {},
): Promise<ServiceProcess> {
  const limit = { limit: 1_000_000_000, seconds: 1 };
  const limits = Object.fromEntries(Object.keys(defaultLimits).map((name) => [name, limit]));
  const file = `${directory}-limits.json`;
  writeFileSync(file, JSON.stringify(limits));
  return startService({
    directory,
    port: await freePort(),
    ...(node !== undefined && { node }),
    toNowhere: true,
    cpuMs: 300_000,
    pollMs: 5,
    environment: {
      LIMITS_FILE: file,
      MAX_REQUESTS: '10000',
      METRICS_PORT: String(await freePort()),
      ...environment,
    },
  });
}
