import { randomUUID } from 'node:crypto';
import test from 'ava';
import type { AuditEventResource } from '../../../../projections/audit/resource.js';
import { type AuditPage, codeOf, givenAudit } from '../../../support/audit/given-audit.js';
import { asObject, textOf } from '../../../support/clients/service-client.js';

test('An auditor reads every signed event with words, raw event and index, newest first, page by page', async (t) => {
  const { sign, events, page, project, post, owner } = await givenAudit(t);
  const size = await sign();
  // Given an event that no checkpoint covers yet
  await post(`/api/v1/projects`, { name: 'Unsigned' }, owner);
  const log = await events();
  t.true(log.length > size);
  // When all pages are read
  const items: AuditEventResource[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const read: AuditPage = await page(`/audit/events?limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`);
    items.push(...read.items);
    cursor = read.next_cursor;
  }
  // Then each signed event is there once, as the log has it
  t.deepEqual(
    items.map(({ index, event }) => ({ index, ...event })),
    log
      .slice(0, size)
      .map(({ position: _, ...event }, index) => ({ index, ...event }))
      .map(({ recordedAt, revision, ...event }) => ({
        ...event,
        ...{ recorded_at: recordedAt.toISOString(), revision: Number(revision) },
      }))
      .reverse(),
  );
  // and its sentence says who did what
  const created = items.find(({ event }) => event.stream === `project-${project}` && event.revision === 0);
  t.regex(
    created?.words ?? '',
    new RegExp(`^User [0-9a-f-]{36} created project ${project} with the name "Launch"`),
  );
  t.is(created?.project_id, project);
});

test('The filters of events select by stream, type, actor, project, index and time', async (t) => {
  const { sign, events, page, project, ownerId } = await givenAudit(t);
  await sign();
  const log = await events();
  const indexes = async (query: string): Promise<readonly number[]> =>
    (await page(`/audit/events?limit=200&${query}`)).items.map(({ index }) => index).reverse();
  const where = (holds: (event: (typeof log)[number], index: number) => boolean): readonly number[] =>
    [...log.entries()].filter(([index, event]) => holds(event, index)).map(([index]) => index);
  t.deepEqual(
    await indexes(`stream=user-${ownerId}`),
    where(({ stream }) => stream === `user-${ownerId}`),
  );
  t.deepEqual(
    await indexes('type=ProjectCreated'),
    where(({ type }) => type === 'ProjectCreated'),
  );
  t.deepEqual(
    await indexes('actor=operator'),
    where(({ metadata }) => metadata.actor === 'operator'),
  );
  t.deepEqual(
    await indexes(`actor=user:${ownerId}&type=ProjectCreated`),
    where(({ type, metadata }) => type === 'ProjectCreated' && metadata.actor === `user:${ownerId}`),
  );
  t.deepEqual(
    await indexes(`project=${project.toUpperCase()}`),
    where(({ stream }) => stream === `project-${project}`),
  );
  t.deepEqual(await indexes('from=2&to=4'), [2, 3, 4]);
  const time = log[3]?.recordedAt.toISOString() ?? '';
  t.deepEqual(
    await indexes(`from=${time}`),
    where(({ recordedAt }) => recordedAt.toISOString() >= time),
  );
  t.deepEqual(
    await indexes(`to=${time}`),
    where(({ recordedAt }) => recordedAt.toISOString() <= time),
  );
  t.deepEqual(await indexes('stream=share-none'), []);
  t.deepEqual(await indexes('from=100000'), []);
});

test('A stream shows its documents as they stood at an event or a time, and sealed values stay sealed', async (t) => {
  const { sign, events, auditor, owner, project, ask, get, clock } = await givenAudit(t);
  clock.advance(60_000);
  await ask(`/api/v1/projects/${project}`, { method: 'PATCH', json: { name: 'Landing' }, headers: owner });
  const size = await sign();
  const log = await events();
  const renamed = log.findIndex(({ type }) => type === 'ProjectRenamed');
  const created = log.findIndex(({ stream }) => stream === `project-${project}`);
  const nameAt = async (query: string): Promise<unknown> => {
    const answer = await get(`/audit/streams/project-${project}${query}`, auditor);
    t.is(answer.status, 200, answer.text);
    return (answer.json as { views: { projects: { name: string } } }).views.projects.name;
  };
  t.is(await nameAt(''), 'Landing');
  t.is(await nameAt(`?as_of=${renamed}`), 'Landing');
  t.is(await nameAt(`?as_of=${renamed - 1}`), 'Launch');
  t.is(await nameAt(`?as_of=${log[created]?.recordedAt.toISOString()}`), 'Launch');
  t.is(await nameAt('?as_of=2999-01-01T00:00:00Z'), 'Landing');
  const before = await get(`/audit/streams/project-${project}?as_of=${created - 1}`, auditor);
  t.deepEqual(codeOf(before), [404, 'not_found']);
  t.deepEqual(codeOf(await get(`/audit/streams/project-${project}?as_of=2000-01-01T00:00:00Z`, auditor)), [
    404,
    'not_found',
  ]);
  const user = log.find(({ type }) => type === 'UserRegistered');
  const answer = await get(`/audit/streams/${user?.stream}?as_of=${size - 1}`, auditor);
  t.like(answer.json, { views: { users: { email: user?.data['email'] } } });
  t.regex(textOf(user?.data ?? {}, 'email'), /^v1\./);
  t.notRegex(answer.text, /example\.com/);
});

test('The names of users and projects stand beside their streams, and no address does', async (t) => {
  const { auditor, ownerId, project, other, ask, owner, get } = await givenAudit(t);
  await ask(`/api/v1/projects/${project}`, { method: 'PATCH', json: { name: 'Landing' }, headers: owner });
  const [user, none] = [`user-${ownerId}`, `share-${randomUUID()}`];
  const streams = [`project-${project}`, none, user, `project-${other}`, user].join(',');
  const answer = await get(`/audit/names?streams=${streams}`, auditor);
  t.deepEqual(answer.json, {
    items: [
      { stream: `project-${project}`, name: 'Landing' },
      { stream: user, name: 'owner' },
      { stream: `project-${other}`, name: 'Launch' },
    ],
  });
  t.notRegex(answer.text, /example\.com/);
  t.deepEqual(codeOf(await get(`/audit/names?streams=${streams}`, owner)), [403, 'insufficient_role']);
  const many = Array.from({ length: 51 }, () => none).join(',');
  for (const wrong of ['', `order-${ownerId}`, `${user},`, many])
    t.deepEqual(codeOf(await get(`/audit/names?streams=${wrong}`, auditor)), [400, 'invalid_request']);
});

test('A stream with an event that this version cannot decode shows the documents before it, and the reason', async (t) => {
  // Given a project to which a newer version has appended an event
  const { sign, events, auditor, project, get, stores } = await givenAudit(t);
  const stream = `project-${project}`;
  const last = (await events()).findLast((event) => event.stream === stream);
  if (last === undefined) throw new Error('the project has no event');
  const { metadata, revision } = last;
  const event = { id: randomUUID(), type: 'ProjectPainted', data: { colour: 'blue' }, metadata };
  await stores.eventStore.append(stream, revision, [event]);
  await sign();
  const index = (await events()).length - 1;
  // When an auditor asks for it
  const [answer, before] = [await get(`/audit/streams/${stream}`, auditor), index - 1];
  // Then the document is that of the event before
  t.is(answer.status, 200, answer.text);
  t.like(answer.json, {
    stream,
    index,
    revision: Number(revision) + 1,
    views: { projects: { name: 'Launch' } },
  });
  t.deepEqual(asObject(answer.json)['set_apart'], {
    projects: {
      revision: Number(revision),
      reason: `event type ProjectPainted (${stream} at revision ${revision + 1n}) is unknown to this version; run the version that wrote it, or a newer one`,
    },
  });
  // and before that event nothing is quarantined
  t.like((await get(`/audit/streams/${stream}?as_of=${before}`, auditor)).json, { set_apart: {} });
});

test('Bad input of auditors and other callers get their errors', async (t) => {
  const { sign, auditor, owner, get, project, keyFor } = await givenAudit(t);
  const key = await keyFor(project, ['audit:read']);
  const size = await sign();
  const stream = `/audit/streams/project-${project}`;
  for (const path of ['/audit/events', stream]) {
    t.deepEqual(codeOf(await get(path)), [401, 'unauthorized'], path);
    t.deepEqual(codeOf(await get(path, owner)), [403, 'insufficient_role'], path);
    t.deepEqual(codeOf(await get(path, key)), [403, 'api_key_not_allowed'], path);
  }
  for (const query of [
    ...['stream=x', 'stream=project-', 'type=x y', 'type=projectCreated', 'actor=somebody', 'actor=user:'],
    ...['project=1', 'from=-1', 'from=01', 'from=yesterday', 'to=2026-13-01T00:00:00Z', 'to=', 'limit=0'],
    ...['limit=201', 'cursor=x', 'cursor=', `cursor=${Buffer.from('-1').toString('base64url')}`],
    ...['from=5&to=4', 'from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'type=A&type=B'],
  ]) {
    t.deepEqual(codeOf(await get(`/audit/events?${query}`, auditor)), [400, 'invalid_request'], query);
  }
  for (const query of ['as_of=', 'as_of=x', 'as_of=-1', 'as_of=2026-01-01']) {
    t.deepEqual(codeOf(await get(`${stream}?${query}`, auditor)), [400, 'invalid_request'], query);
  }
  t.is((await get(`${stream}?as_of=${size - 1}`, auditor)).status, 200);
  for (const path of [
    ...[`${stream}?as_of=${size}`, `${stream}?as_of=999999999999999`, '/audit/streams/project-none'],
    ...['/audit/streams/nothing', '/audit/streams/%00', '/audit/streams'],
  ]) {
    t.deepEqual(codeOf(await get(path, auditor)), [404, 'not_found'], path);
  }
});

test('While nothing is signed, every call of the history is 503 with Retry-After', async (t) => {
  const { auditor, get, project, owner } = await givenAudit(t);
  for (const [path, headers] of [
    ['/audit/events', auditor],
    [`/audit/streams/project-${project}`, auditor],
    [`/api/v1/projects/${project}/audit/events`, owner],
    [`/api/v1/projects/${project}/audit/proof?index=0`, owner],
  ] as const) {
    const answer = await get(path, headers);
    t.deepEqual(codeOf(answer), [503, 'nothing_signed'], path);
    t.is(answer.headers.get('retry-after'), '10');
  }
});

test('A log that is shorter than what was signed shows the events that it still has', async (t) => {
  // Given a contradiction: the process has sequenced less than was signed
  const { sign, page, auditor, get, project, lose } = await givenAudit(t);
  const size = await sign();
  lose(size - 3);
  // Then the remaining events are listed, and a lost index is 404
  t.is((await page('/audit/events?limit=1')).items[0]?.index, size - 4);
  const stream = `/audit/streams/project-${project}`;
  t.deepEqual(codeOf(await get(`${stream}?as_of=${size - 3}`, auditor)), [404, 'not_found']);
  t.like((await get(stream, auditor)).json, { index: size - 4 });
});
