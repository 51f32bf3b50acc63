import test from 'ava';
import { nodeCheckPrefix } from '../../../../src/areas/nodes/domain/node/fold.js';
import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import type { StateStore } from '../../../../src/event-sourcing/ports/state-store.js';
import { makeLease } from '../../../../src/event-sourcing/feeding/consumers/lease.js';
import { type Probe, proberName, startProber } from '../../../../src/areas/nodes/prober.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenContext, givenStores } from '../../../support/given/given-stores.js';
import { makeVirtualClock } from '../../../support/kernel/virtual-clock.js';

/** Processes with probers over the same stores. The nodes are simulated; all other parts are real. */
async function given(
  count: number,
  {
    nodeMs = 50,
    isOk = () => true,
    wrapState,
  }: {
    readonly nodeMs?: number;
    readonly isOk?: (address: string) => boolean;
    readonly wrapState?: (store: StateStore) => StateStore;
  } = {},
) {
  const clock = makeVirtualClock();
  const stores = await givenStores({
    clock: { ...clock, advance: () => undefined },
    ...(wrapState === undefined ? {} : { wrapState }),
  });
  const startMs = clock.now().getTime();
  const seen = new Map<string, number[]>();
  const late: number[] = [];
  const errors: unknown[] = [];
  let [begun, open, openMax, n] = [0, 0, 0, 10_000];
  const probe: Probe = async (address, signal) => {
    begun += 1;
    open += 1;
    openMax = Math.max(openMax, open);
    seen.set(address, [...(seen.get(address) ?? []), clock.now().getTime() - startMs]);
    await clock.sleep(nodeMs, signal).catch(() => undefined);
    open -= 1;
    return isOk(address);
  };
  const newContext = () => givenContext((n += 1), clock.now(), `system:${proberName}`);
  const onRetry = (...[, error]: [string, unknown]) => errors.push(error);
  const join = (id: string) => {
    const own = stores.anotherProcess();
    const { nodes, reportNodeCheck } = givenCommands(own);
    const lease = makeLease({
      ...{ id, keyOf: () => 'task/prober', stateStore: own.stateStore, clock },
      onRetry: (error) => onRetry(proberName, error),
    });
    const prober = startProber({
      ...{ nodes, reportNodeCheck, probe, lease, clock, newContext, onRetry },
      onLate: (turns) => late.push(turns),
    });
    const leave = async (): Promise<void> => {
      const left = lease.stop();
      prober.end();
      await clock.run(Promise.all([left, prober.done]));
    };
    return { leave, feeds: () => lease.isOwner() };
  };
  const commands = givenCommands(stores);
  const add = async (index: number): Promise<string> => {
    const input = { name: `edge-${index}`, ip_address: `192.0.${Math.floor(index / 256)}.${index % 256}` };
    return (await commands.addNode(input, givenContext(index, clock.now(), 'operator'))).resource.id;
  };
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) ids.push(await add(index));
  return {
    ...{ clock, stores, commands, ids, seen, late, errors, join },
    advance: (ms: number) => clock.advance(ms),
    open: () => open,
    openMax: () => openMax,
    probes: () => begun,
    checks: () => stores.stateStore.list(nodeCheckPrefix, { limit: 1_000 }),
  };
}

/** Returns the times between the probes of each node. */
function gapsOf(seen: ReadonlyMap<string, readonly number[]>): readonly number[] {
  return [...seen.values()].flatMap((times) =>
    times.slice(1).map((time, index) => time - (times[index] ?? 0)),
  );
}

test('Three processes together probe each node once in 10 s, and nodes spread over the interval', async (t) => {
  const { join, advance, seen, errors, late, checks } = await given(40);
  const processes = [join('one'), join('two'), join('three')];
  await advance(75_000);
  t.is(processes.filter(({ feeds }) => feeds()).length, 1);
  t.is(seen.size, 40);
  for (const times of seen.values()) t.true(times.length >= 5, times.join());
  const gaps = gapsOf(seen);
  t.true(Math.min(...gaps) >= 9_500, `${Math.min(...gaps)} ms`);
  t.true(Math.max(...gaps) <= 10_500, `${Math.max(...gaps)} ms`);
  const seconds = new Set([...seen.values()].map(([first = 0]) => Math.floor((first % 10_000) / 1_000)));
  t.true(seconds.size >= 8, 'nodes have their turns in different seconds');
  t.is((await checks()).length, 40);
  for (const { leave } of processes) await leave();
  t.deepEqual(errors, []);
  t.deepEqual(late, []);
});

test('Another process takes the probes over, and a node waits at most 45 s', async (t) => {
  const { join, advance, seen, openMax, open } = await given(20, { nodeMs: 3_000 });
  const processes = [join('one'), join('two')];
  await advance(45_000);
  const feeder = processes.find(({ feeds }) => feeds());
  await feeder?.leave();
  t.is(open(), 0, 'the process that leaves has closed its connections');
  await advance(60_000);
  t.is(seen.size, 20);
  for (const times of seen.values()) t.true(times.length >= 6, times.join());
  t.true(Math.max(...gapsOf(seen)) <= 45_000);
  t.true(openMax() <= 50);
  for (const one of processes) if (one !== feeder) await one.leave();
});

test('At most 50 probes are under way, each node has one, and the log reports once that turns are late', async (t) => {
  const { join, advance, seen, late, openMax } = await given(240, { nodeMs: 3_000, isOk: () => false });
  const { leave } = join('one');
  await advance(60_000);
  t.is(openMax(), 50);
  t.is(seen.size, 240, 'late nodes have their turn too');
  t.true(Math.min(...gapsOf(seen)) >= 3_000, 'probes of a node do not overlap');
  t.is(late.length, 1);
  t.true((late[0] ?? 0) > 0);
  await leave();
});

test('A prober that ends closes its connections, counts no probe that it has cut off, and starts none', async (t) => {
  const { join, advance, open, probes, checks } = await given(100, { nodeMs: 3_000 });
  const { leave } = join('one');
  while (open() < 10) await advance(100);
  const counted = (await checks()).length;
  const begun = probes();
  t.true(begun - counted >= 10);
  await leave();
  t.is(open(), 0);
  t.is((await checks()).length, counted);
  await advance(30_000);
  t.is(probes(), begun);
});

test('Results are checks: they set the status, also of a node in maintenance, and a removed node has none', async (t) => {
  const { join, advance, commands, clock, ids, seen } = await given(4, {
    isOk: (address) => address === '192.0.0.0' || address === '192.0.0.2',
  });
  const [maintained = '', removed = ''] = ids.slice(2);
  const operator = (n: number) => givenContext(n, clock.now(), 'operator');
  await commands.changeNode({ nodeId: maintained, changes: {}, mode: 'maintenance' }, operator(50));
  const { leave } = join('one');
  await advance(25_000);
  await commands.removeNode({ nodeId: removed }, operator(51));
  const before = seen.get('192.0.0.3')?.length ?? 0;
  await advance(35_000);
  const listed = (await commands.nodes.list()).toSorted((a, b) => (a.ip_address < b.ip_address ? -1 : 1));
  t.like(listed, [
    { status: 'healthy', consecutive_failures: 0 },
    { status: 'unhealthy', consecutive_successes: 0 },
    { status: 'maintenance', health: 'healthy', consecutive_failures: 0 },
  ]);
  t.true(
    (seen.get('192.0.0.3')?.length ?? 0) - before <= 1,
    'the round that had begun may probe it once more',
  );
  await leave();
});

test('A result that the state store does not take is reported once, and later results count again', async (t) => {
  let away = false;
  const { join, advance, errors, checks } = await given(3, {
    wrapState: (store) => ({
      ...store,
      compareAndSet: (key, ...others) =>
        away && key.startsWith(nodeCheckPrefix)
          ? Promise.reject(new StoreUnavailable('away'))
          : store.compareAndSet(key, ...others),
    }),
  });
  const { leave } = join('one');
  away = true;
  await advance(60_000);
  t.is(errors.length, 1);
  t.true(errors[0] instanceof StoreUnavailable);
  t.deepEqual(await checks(), []);
  away = false;
  await advance(20_000);
  t.is((await checks()).length, 3);
  await leave();
});
