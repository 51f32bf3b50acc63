import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Environment, ServiceProcess } from '../support/servers/service-process.js';
import { makeDataDirectory } from '../support/servers/service-process.js';
import type { Anchors } from './anchor-server.js';
import { serveUnlimited } from './serve.js';

/** Runs work with the service, as `serve` runs it, and with the anchors of rows over HTTP. */
export async function withServe<Result>(
  environment: Environment,
  work: (service: ServiceProcess, anchors: Anchors) => Promise<Result>,
): Promise<Result> {
  const data = await makeDataDirectory();
  const child = fork(fileURLToPath(new URL('./anchor-server.js', import.meta.url)), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  try {
    const [anchors] = (await once(child, 'message')) as [Anchors];
    const service = await serveUnlimited(join(data.path, 'data'), { environment });
    try {
      return await work(service, anchors);
    } finally {
      await service.stop();
    }
  } finally {
    child.disconnect();
    await once(child, 'exit');
    await data.remove();
  }
}
