import { randomUUID } from 'node:crypto';
import { makeHttp } from '../../src/composition/http.js';
import { openServices } from '../../src/composition/services.js';
import { readConfig } from '../../src/config/config.js';
import type { CommandContext } from '../../src/event-sourcing/ports/command-context.js';
import { startProjections } from '../../src/event-sourcing/feeding/projectors/projection-runner.js';
import { startHttpServer } from '../../src/http/server/server.js';
import { makeHealth } from '../../src/observing/health.js';
import { makeSoleLease } from '../../src/event-sourcing/feeding/consumers/lease.js';
import { listen, makeAnchor } from './anchors.js';

/** The values with which the parent process sends its requests. */
export interface PeerListsSetup {
  readonly service: string;
  /** See `makeAnchor`. */
  readonly anchor: string;
  readonly nodeIds: readonly string[];
}

// The settings are those of the environment, which the parent process chooses.
const [count = ''] = process.argv.slice(2);
const services = await openServices(readConfig(), { passwordScrypt: { N: 2, r: 8, p: 1 } });
process.once('disconnect', () => process.exit());
process.send?.(await setUp(Number(count)));

async function setUp(nodes: number): Promise<PeerListsSetup> {
  await services.generations.start();
  const health = makeHealth({
    stores: { away: () => [] },
    logReads: { failingSinceMs: () => null },
    clock: services.clock,
  });
  health.projectionsStarted(
    await startProjections(
      { ...services, lease: makeSoleLease('bench') },
      {
        onRetry: () => undefined,
        onStopped: fail,
        onRebuilt: () => undefined,
      },
    ),
  );
  await health.settled(new AbortController().signal);
  const nodeIds: string[] = [];
  for (let index = 0; index < nodes; index += 1) {
    const input = { name: `edge-${index}`, ip_address: `192.0.${index >> 8}.${index & 255}` };
    const { resource } = await services.commands.addNode(input, makeContext());
    nodeIds.push(resource.id);
    // Two successes make it healthy, so later ones change no entity tag.
    for (let check = 0; check < 2; check += 1)
      await services.commands.reportNodeCheck({ nodeId: resource.id, ok: true }, makeContext());
  }
  const server = await startHttpServer({ ...makeHttp(services, health), host: '127.0.0.1', port: 0 });
  return {
    service: `http://127.0.0.1:${server.port}/api/v1/internal`,
    anchor: await listen(makeAnchor(services)),
    nodeIds,
  };
}

function makeContext(): CommandContext {
  const commandId = randomUUID();
  return { commandId, causationId: commandId, correlationId: commandId, actor: 'operator', time: new Date() };
}

function fail(_collection: string, error: unknown): never {
  throw error;
}
