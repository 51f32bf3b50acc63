import test from 'ava';
import { projectCategory, type ProjectEvent } from '../../../src/areas/projects/domain/project/events.js';
import { projectAggregate } from '../../../src/areas/projects/domain/project/project.js';
import { EventTooLarge } from '../../../src/event-sourcing/ports/errors.js';
import { streamName } from '../../../src/event-sourcing/ports/domain-event.js';
import { type Pace, processPace, type Work } from '../../../src/kit/read-in-turns.js';
import { apiKeyIssued, memberId } from '../../support/examples/project.js';
import { userId } from '../../support/examples/ids.js';
import { recordEvents } from '../../support/given/given-events.js';
import { startTestService } from '../../support/servers/http-service.js';

/** 64 API keys with names of 200 kB: more than the 12 MiB of a document. */
const largeKeys = Array.from({ length: 64 }, (_, n): ProjectEvent => {
  const issued = apiKeyIssued(memberId(n), userId);
  return issued.type === 'ApiKeyIssued'
    ? { ...issued, data: { ...issued.data, name: 'k'.repeat(200_000) } }
    : issued;
});

test('A change that would make a document too large is a clear 409, and writes nothing', async (t) => {
  // Given a project whose next change makes its document too large
  const { ask, signUp, makeProject, stores } = await startTestService(t);
  const owner = await signUp('owner');
  const id = await makeProject(owner);
  const stream = streamName(projectCategory, id);
  const before = BigInt((await stores.eventStore.read(stream)).length);
  for (const [n, event] of recordEvents(projectAggregate, id, largeKeys).entries()) {
    await stores.eventStore.append(stream, before + BigInt(n) - 1n, [event]);
  }
  // When
  const reply = await ask(`/api/v1/projects/${id}`, {
    ...{ method: 'PATCH', json: { name: 'Lakes' }, headers: owner },
  });
  // Then
  t.is(reply.status, 409, reply.text);
  t.like(reply.json, {
    code: 'document_too_large',
    message: 'the resource would become too large to be stored; nothing was changed',
  });
  t.is((await stores.eventStore.read(stream)).length, Number(before) + largeKeys.length);
});

test('A change that the log refuses as too large is a clear 409, and a retry of it writes nothing', async (t) => {
  // Given a log that refuses a change for its size
  let isRefusing = false;
  const { post, signUp, get } = await startTestService(t, {
    storeOptions: {
      wrap: (store) => ({
        ...store,
        append: (...given) =>
          isRefusing
            ? Promise.reject(new EventTooLarge('an event of 300000 bytes; the limit is 262144'))
            : store.append(...given),
      }),
    },
  });
  const owner = await signUp('owner');
  const headers = { ...owner, 'idempotency-key': 'rivers' };
  isRefusing = true;
  for (const attempt of ['the first', 'a retry']) {
    // When
    const reply = await post('/api/v1/projects', { name: 'Rivers' }, headers);
    // Then
    t.is(reply.status, 409, attempt);
    t.like(reply.json, {
      code: 'document_too_large',
      message: 'the change is too large to be stored; nothing was changed',
    });
  }
  t.like((await get('/api/v1/projects', owner)).json, { items: [] });
});

test.serial(
  'A body is looked through in its turn among all that the process reads from outside',
  async (t) => {
    const service = await startTestService(t);
    const bytes: number[] = [];
    const spend = processPace.spend.bind(processPace);
    t.teardown(() => Object.assign(processPace, { spend }));
    Object.assign(processPace, {
      spend: (work: Work) => {
        bytes.push(work.bytes);
        return spend(work);
      },
    } satisfies Pace);
    const body = JSON.stringify({ email: 'a'.repeat(54_321) });
    await service.ask('/api/v1/auth/login', { method: 'POST', body });
    t.true(bytes.includes(body.length));
  },
);
