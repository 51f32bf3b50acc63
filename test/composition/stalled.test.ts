import test, { type ExecutionContext } from 'ava';
import { Registry } from 'prom-client';
import { makeServiceStatus } from '../../src/composition/status.js';
import { UndecodableEvent } from '../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import { startReactions } from '../../src/event-sourcing/effects/reaction-runner.js';
import { endpointConsumer } from '../../src/event-sourcing/feeding/consumers/tasks.js';
import { feederKey, makeLease } from '../../src/event-sourcing/feeding/consumers/lease.js';
import { startMetricsServer } from '../../src/http/metrics.js';
import { makeHealth } from '../../src/observing/health.js';
import { registerMetrics } from '../../src/observing/metrics.js';
import { givenProcess, givenWorld } from '../support/kernel/world.js';
import { makeSendParcels } from '../support/kernel/reactions.js';
import { writeCounters } from '../support/kernel/counters.js';

/** Given processes that share their stores. Each has two views, one reaction, and a listener for operators. */
function given(t: ExecutionContext) {
  const world = givenWorld();
  const { clock, stateStore, eventStore: log } = world;
  const ignore = (): void => undefined;

  /** @param seen the log as the reaction of the process sees it */
  async function start(id: string, seen: EventStore) {
    const lease = makeLease({ id, keyOf: feederKey, stateStore, clock, onRetry: ignore });
    const process = await givenProcess({ ...world, lease });
    const health = makeHealth({
      stores: { away: () => [] },
      logReads: { failingSinceMs: () => null },
      clock,
    });
    const projections = await process.startProjections();
    health.projectionsStarted(projections);
    const reactions = startReactions(
      { ...world, eventStore: seen, holder: id, lease },
      [makeSendParcels({ handler: process.handler, send: () => Promise.resolve() })],
      { onRetry: ignore, onQuarantined: ignore, onStopped: ignore },
    );
    // Given an endpoint of outgoing events that no process feeds any more
    lease.add(endpointConsumer('crm'), () => ({ state: 'stopped', lagMs: 0, problem: null }));
    lease.stopped(endpointConsumer('crm'));
    lease.start();
    const registry = new Registry();
    registerMetrics(registry, clock, {
      projections: () => projections,
      reactions: () => reactions.statuses(),
    });
    const status = makeServiceStatus({ stores: { states: () => [] }, health });
    status.opened({ leases: { feeder: lease, all: () => [lease] } });
    const server = await startMetricsServer({ registry, status: status.report, host: '127.0.0.1', port: 0 });
    t.teardown(async () => {
      await server.close();
      await clock.run(reactions.stop());
      await clock.run(projections.stop());
    });
    const get = (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`);
    return {
      /** Returns the status code of `/readyz` and its reasons without their ages. */
      ready: async () => {
        const reply = await get('/readyz');
        const { reasons } = (await reply.json()) as { readonly reasons: readonly string[] };
        return [reply.status, ...reasons.map((reason) => reason.replace(/ for \d+ s$/, ''))];
      },
      stalled: async () => {
        const lines = (await (await get('/metrics')).text()).split('\n');
        return lines.filter((line) => line.startsWith('stowage_stalled_seconds{'));
      },
    };
  }

  const move = () => writeCounters(log, { counters: 2, additions: 1, more: true });
  return { clock, log, start, move };
}

test('Readiness and the metrics of each process name a reaction that has stopped in all of them, after 15 s', async (t) => {
  const { clock, log, start, move } = given(t);
  await writeCounters(log, { counters: 2, additions: 1 });
  // Given two processes, in which the reaction stops
  const stopping: EventStore = {
    ...log,
    subscribe: () => {
      throw new UndecodableEvent('more events than the limit cannot be read');
    },
  };
  const processes = [await start('ada', stopping), await start('bob', stopping)];
  await clock.advance(5_000);
  await move();
  await clock.advance(7_000);
  for (const { ready, stalled } of processes) {
    t.deepEqual(await ready(), [200]);
    t.deepEqual(await stalled(), []);
  }
  // When the log has moved for 15 s
  await move();
  await clock.advance(8_000);
  // Then both name the reaction, and nothing else
  for (const { ready, stalled } of processes) {
    t.deepEqual(await ready(), [503, 'the reaction send-parcels is stalled: no process feeds it']);
    const [line, ...others] = await stalled();
    t.deepEqual(others, []);
    const seconds = /^stowage_stalled_seconds\{consumer="reaction\/send-parcels"\} (\d+(?:\.\d+)?)$/.exec(
      line ?? '',
    )?.[1];
    t.true(Number(seconds) >= 15 && Number(seconds) <= 20, line);
  }
  // When a process comes in which it runs, then all of them are ready
  const healed = await start('cleo', log);
  await clock.advance(5_000);
  for (const { ready, stalled } of [...processes, healed]) {
    t.deepEqual(await ready(), [200]);
    t.deepEqual(await stalled(), []);
  }
});
