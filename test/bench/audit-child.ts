import { randomUUID } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { exportLog } from '../../src/areas/audit/history/export.js';
import { parseTilePath } from '../../src/areas/audit/tree/tiles.js';
import { openServices, type Services } from '../../src/composition/services.js';
import { systemClock } from '../../src/composition/system.js';
import { readConfig } from '../../src/config/config.js';
import { startProjections } from '../../src/event-sourcing/feeding/projectors/projection-runner.js';
import { makeSoleLease } from '../../src/event-sourcing/feeding/consumers/lease.js';
import { makeEvent } from './events.js';
import { fillMixedLog } from '../support/given/mixed-log.js';

// Measures one thing about the audit log in a separate process:
// node audit-child.js <directory> fill|read|sequence|search|live|export [events|folder]

const [directory = '', mode = '', argument = ''] = process.argv.slice(2);
const appendsPerSecond = 1_000;
const liveSeconds = 30;
const measures: Readonly<Record<string, () => Promise<object>>> = {
  fill,
  read,
  sequence,
  search,
  live,
  export: exported,
};
const measure = measures[mode];
if (measure === undefined) throw new Error(`there is no mode ${mode}`);
process.stdout.write(JSON.stringify(await measure()));

async function withServices<Result>(run: (services: Services) => Promise<Result>): Promise<Result> {
  const services = await openServices(readConfig({ DATA_DIR: directory, LOG_LEVEL: 'silent' }));
  try {
    return await run(services);
  } finally {
    await services.close();
  }
}

/** Runs the audit log while the function waits. */
async function withAudit<Result>({ audit }: Services, run: () => Promise<Result>): Promise<Result> {
  const stopping = new AbortController();
  const running = audit.log.run(stopping.signal);
  try {
    return await run();
  } finally {
    stopping.abort();
    await running;
  }
}

/** CPU of all threads, in seconds. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Fills an empty log. The service has made its keys before, as at a first start. */
function fill(): Promise<object> {
  return withServices(async ({ eventStore }) => {
    await fillMixedLog(eventStore, Number(argument));
    return {};
  });
}

/** Reads the log as every follower of it does. Its cost is shared with the views. */
function read(): Promise<object> {
  return withServices(async ({ eventStore }) => {
    const before = cpuSeconds();
    let events = 0;
    for await (const page of eventStore.subscribe({ after: null, signal: new AbortController().signal })) {
      events += page.events.length;
      if (page.atHead) break;
    }
    return { events, cpuSeconds: cpuSeconds() - before };
  });
}

/** Sequences and signs the whole log into an empty store. */
async function sequence(): Promise<object> {
  for (const name of ['read-models.db', 'read-models.db-wal', 'read-models.db-shm']) {
    rmSync(join(directory, name), { force: true });
  }
  const took = await withServices((services) =>
    withAudit(services, async () => {
      const before = cpuSeconds();
      const isThere = (): boolean => {
        const { log, signed } = services.audit.log.status();
        // The service signs at the head only.
        return log !== null && signed?.size === log.size;
      };
      while (!isThere()) await systemClock.sleep(20);
      return cpuSeconds() - before;
    }),
  );
  return { cpuSeconds: took, bytes: statSync(join(directory, 'read-models.db')).size };
}

/** Searches all events for the actor of the first one, page by page. */
function search(): Promise<object> {
  return withServices(async ({ audit, eventStore }) => {
    const signed = await audit.log.readSigned();
    const [first] = (await eventStore.readAll({ after: null, limit: 1 })).events;
    const actor = String(first?.metadata.actor);
    const began = performance.now();
    let [found, pages] = [0, 0];
    for (let before: number | null = Infinity; before !== null; pages += 1) {
      const page: { readonly items: readonly unknown[]; readonly next: number | null } =
        await audit.reader.events({ terms: { actor }, before, limit: 100 }, signed?.size ?? 0);
      found += page.items.length;
      before = page.next;
    }
    return { found, pages, seconds: (performance.now() - began) / 1_000 };
  });
}

/** Appends at a constant rate beside the views, and returns how long an event waited at most, in seconds. */
function live(): Promise<object> {
  return withServices(async (services) => {
    const { eventStore, audit } = services;
    const fail = (_collection: string, error: unknown): never => {
      throw error;
    };
    await services.generations.start();
    const projections = await startProjections(
      { ...services, lease: makeSoleLease('bench') },
      {
        ...{ onRetry: fail, onStopped: fail, onRebuilt: () => undefined },
      },
    );
    const waits = await withAudit(services, async () => {
      const appendedAt: number[] = [];
      const before = audit.log.status().log?.size ?? 0;
      const total = appendsPerSecond * liveSeconds;
      const began = performance.now();
      let [started, integrated, signed] = [0, 0, 0];
      const done = (): boolean => (audit.log.status().signed?.size ?? 0) >= before + total;
      while (!done()) {
        const due = Math.min(total, Math.floor(((performance.now() - began) * appendsPerSecond) / 1_000));
        for (; started < due; started += 1) {
          const event = makeEvent({
            type: 'ProjectCreated',
            data: { name: 'Film', owner_id: randomUUID() },
          });
          void eventStore.append(`project-${event.id}`, 'no-stream', [event]).then(() => {
            appendedAt.push(performance.now());
          });
        }
        const { log, signed: checkpoint } = audit.log.status();
        integrated = Math.max(integrated, waited(appendedAt, (log?.size ?? 0) - before));
        signed = Math.max(signed, waited(appendedAt, (checkpoint?.size ?? 0) - before));
        await systemClock.sleep(5);
      }
      return {
        integratedSeconds: integrated,
        signedSeconds: signed,
        seconds: (performance.now() - began) / 1_000,
      };
    });
    await projections.stop();
    return waits;
  });
}

/** Returns for how long the oldest event that is not covered has waited, in seconds. */
function waited(appendedAt: readonly number[], covered: number): number {
  const oldest = appendedAt[Math.max(0, covered)];
  return oldest === undefined ? 0 : (performance.now() - oldest) / 1_000;
}

/** Writes the signed log into a folder, as `stowage audit export` does. */
function exported(): Promise<object> {
  return withServices(async ({ audit }) => {
    const signed = await audit.log.readSigned();
    if (signed === null) throw new Error('nothing is signed');
    const { note, origin, size } = signed;
    const source = {
      checkpoint: () => Promise.resolve({ note, origin, size, vkeys: audit.vkeys(origin) }),
      file: async (path: string) => {
        const parsed = parseTilePath(path);
        const bytes = parsed === null ? null : await audit.resources.read(parsed, size);
        if (bytes === null) throw new Error(`there is no ${path}`);
        return bytes;
      },
    };
    await exportLog(argument, source, () => undefined);
    return { size };
  });
}
