import type { ExecutionContext } from 'ava';
import { projectsProjection } from '../../../projections/projects/projects/projection.js';
import {
  projectCategory,
  projectCodec,
  type ProjectEvent,
} from '../../../src/areas/projects/domain/project/events.js';
import { streamName } from '../../../src/event-sourcing/ports/domain-event.js';
import { documentBytes, type ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import type { EventStore, ExpectedRevision } from '../../../src/event-sourcing/ports/event-store.js';
import { runProjector } from '../../../src/event-sourcing/feeding/projectors/projector.js';
import { userId } from '../examples/ids.js';
import { apiKeyIssued, memberAdded, memberId } from '../examples/project.js';
import { makeSeededRandom, realClock } from '../fakes/clock.js';
import { makeMemoryEventStore } from '../fakes/memory-event-store.js';
import { recordEvents } from './given-events.js';

const collection = 'projects@3.1';
export const projectsMax = 200;
/**
 * Returns the events of a project at its limits: 200 members and 100 API keys, here with long names. Grants have no limit
 * but the size of the document: each paid order for the project adds one.
 */
export const largeProject = (ownerId: string, grants: number): readonly ProjectEvent[] => [
  { type: 'ProjectCreated', data: { name: 'p'.repeat(200), owner_id: ownerId } },
  ...Array.from({ length: 199 }, (_, n) => memberAdded(memberId(n), 'viewer')),
  ...Array.from({ length: grants }, (_, n): ProjectEvent => {
    return { type: 'EntitlementGranted', data: { entitlement: 'allow_s3', source: memberId(n) } };
  }),
  ...Array.from({ length: 100 }, (_, n): ProjectEvent => {
    const issued = apiKeyIssued(memberId(n), ownerId);
    return issued.type === 'ApiKeyIssued'
      ? { ...issued, data: { ...issued.data, name: '€'.repeat(200) } }
      : issued;
  }),
];
const events = largeProject(userId, 20);

/**
 * Feeds 200 projects as large as their limits allow to a view, renames one after the other, and feeds the renames in
 * one page. Asserts that the view follows without a retry.
 */
export async function renameLargeProjects(
  t: ExecutionContext,
  readModelStore: ReadModelStore,
): Promise<void> {
  const log = makeMemoryEventStore({ clock: realClock, random: makeSeededRandom(1) });
  const ids = Array.from({ length: projectsMax }, (_, n) => `project${n}`);
  await readModelStore.ensureCollection(collection, projectsProjection.indexes);
  for (const id of ids) await append(log, id, events, 'no-stream');
  await feed(t, log, readModelStore);
  const renamed: ProjectEvent = { type: 'ProjectRenamed', data: { name: 'Renamed' } };
  for (const id of ids) await append(log, id, [renamed], BigInt(events.length - 1));

  await feed(t, log, readModelStore);

  const stored = await readModelStore.getMany(collection, ids);
  t.is(stored.length, projectsMax);
  t.true(stored.every(({ body }) => body?.['name'] === 'Renamed'));
  const bytes = stored.reduce((sum, { body }) => sum + documentBytes(body), 0);
  t.true(bytes > 16 * 1024 * 1024, `all documents together have ${bytes} bytes`);
}

async function append(
  log: EventStore,
  id: string,
  added: readonly ProjectEvent[],
  expected: ExpectedRevision,
): Promise<void> {
  const stream = streamName(projectCategory, id);
  // The ids of events follow from the stream's name, and each append needs others.
  const named = `${id} after ${expected}`;
  await log.append(
    stream,
    expected,
    recordEvents({ category: projectCategory, codec: projectCodec }, named, added),
  );
}

/** Runs a projector until it reaches the head of the log. @throws the error that stops the view */
async function feed(
  t: ExecutionContext,
  eventStore: EventStore,
  readModelStore: ReadModelStore,
): Promise<void> {
  const head = await eventStore.head();
  const reached = new AbortController();
  await runProjector(
    { eventStore, readModelStore, clock: realClock, random: makeSeededRandom(1) },
    { projection: projectsProjection, collection },
    {
      signal: reached.signal,
      onProgress: ({ position }) => {
        if (position === head) reached.abort();
      },
      onRetry: (error) => t.fail(`the view was interrupted: ${error.message}`),
    },
  );
}
