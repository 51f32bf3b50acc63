import test, { type ExecutionContext } from 'ava';
import type { AuditEventResource } from '../../projections/audit/resource.js';
import type { AuditStatus } from '../../src/audit/audit-log.js';
import { entryOf } from '../../src/audit/leaf.js';
import { leafHash, rootFromInclusion } from '../../src/audit/merkle.js';
import {
  isSignedBy,
  makeNoteSigner,
  parseCheckpointText,
  parseNote,
  parseVkey,
} from '../../src/audit/note.js';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { auditSeed, readWholeLog } from '../support/audit/audit-scene.js';
import { makeAuditOnDemand } from '../support/audit/audit-on-demand.js';
import type { Answer } from '../support/clients/http-app.js';
import { asObject, textOf } from '../support/clients/service-client.js';
import { givenContext } from '../support/given/given-stores.js';
import { startTestService } from '../support/servers/http-service.js';

type Page = { readonly items: readonly AuditEventResource[]; readonly next_cursor: string | null };

/** Starts a service with an auditor, two projects of one owner, and a log that `sign` signs. */
async function givenAudit(t: ExecutionContext) {
  let audit: ReturnType<typeof makeAuditOnDemand> | null = null;
  let lost: Partial<AuditStatus> = {};
  const service = await startTestService(t, {
    makeAudit: (stores) => {
      const made = makeAuditOnDemand(stores);
      audit = made;
      return { ...made, log: { ...made.log, status: () => ({ ...made.log.status(), ...lost }) } };
    },
    rates: { session: { limit: 10_000, seconds: 1 }, user: { limit: 10_000, seconds: 1 } },
  });
  const { stores, commands, signUp, verify, makeProject, post, get } = service;
  const auditor = await signUp('auditor');
  await verify('auditor');
  await commands.grantPlatformRole(
    { email: 'auditor@example.com', role: 'auditor' },
    givenContext(1, stores.clock.now(), 'operator'),
  );
  const owner = await signUp('owner');
  const ownerId = await verify('owner');
  const [project, other] = [await makeProject(owner), await makeProject(owner)];
  const keyFor = async (of: string, scopes: readonly string[]): Promise<{ 'x-api-key': string }> => {
    const made = await post(`/api/v1/projects/${of}/api-keys`, { name: 'Audit', scopes }, owner);
    t.is(made.status, 201, made.text);
    return { 'x-api-key': textOf(asObject(made.json), 'key') };
  };
  const page = async (path: string, headers: Readonly<Record<string, string>> = auditor): Promise<Page> => {
    const answer = await get(path, headers);
    t.is(answer.status, 200, answer.text);
    return answer.json as Page;
  };
  const sign = async (): Promise<number> =>
    (await (audit as ReturnType<typeof makeAuditOnDemand>).sign()).size;
  const events = () => readWholeLog(stores.eventStore);
  /** Makes the log one that has lost events. */
  const lose = (size: number): void => {
    const found = {
      origin: 'o',
      found_at: '2026-01-02T03:04:05.000Z',
      source: 'record',
      what: 'shorter',
      size,
    };
    const log = { logId: 'l', atHead: true, size, root: Buffer.alloc(32), restart: null, time: null };
    lost = { contradiction: found, log };
  };
  return { ...service, auditor, owner, ownerId, project, other, keyFor, page, sign, events, lose };
}

function codeOf({ status, json }: Answer): readonly [number, unknown] {
  return [status, (json as JsonObject)['code']];
}

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
    const read: Page = await page(`/audit/events?limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`);
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
    ...['stream=x', 'stream=project-', 'type=x y', 'type=projectCreated', 'actor=nobody', 'actor=user:'],
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

test("A project's admins, its keys with audit:read and auditors read the project's own events only", async (t) => {
  const { sign, events, page, project, other, keyFor, get, owner, auditor, signUp, verify, post } =
    await givenAudit(t);
  for (const role of ['admin', 'editor']) {
    await signUp(role).then(async () => verify(role));
    const added = await post(
      `/api/v1/projects/${project}/members`,
      { email: `${role}@example.com`, role },
      owner,
    );
    t.is(added.status, 201, added.text);
  }
  const signIn = async (name: string): Promise<{ authorization: string }> => {
    const answer = await post('/api/v1/auth/login', {
      email: `${name}@example.com`,
      password: 'Correct-Horse-7',
    });
    const { data } = answer.json as { data: { tokens: { access_token: string } } };
    return { authorization: `Bearer ${data.tokens.access_token}` };
  };
  const [key, wrongKey] = [await keyFor(project, ['audit:read']), await keyFor(project, ['order:read'])];
  const otherKey = await keyFor(other, ['audit:read']);
  await sign();
  const path = `/api/v1/projects/${project}/audit/events`;
  const own = [...(await events()).entries()]
    .filter(([, { stream }]) => stream === `project-${project}`)
    .map(([index]) => index)
    .reverse();
  t.true(own.length >= 5);
  for (const headers of [owner, await signIn('admin'), key, auditor]) {
    const { items, next_cursor: next } = await page(`${path}?limit=200`, headers);
    t.deepEqual(
      items.map(({ index }) => index),
      own,
    );
    t.true(items.every(({ project_id: of }) => of === project));
    t.is(next, null);
  }
  const two = await page(`${path}?type=MemberAdded&limit=1`, key);
  t.like(two, { items: [{ event: { type: 'MemberAdded' } }] });
  // A filter for another project's stream, or by project, shows nothing more.
  t.deepEqual((await page(`${path}?stream=project-${other}`, key)).items, []);
  t.deepEqual((await page(`${path}?project=${other}&limit=200`, key)).items.length, own.length);

  for (const at of [path, `/api/v1/projects/${project}/audit/proof?index=${own[0]}`]) {
    t.deepEqual(codeOf(await get(at)), [401, 'unauthorized']);
    t.deepEqual(codeOf(await get(at, await signIn('editor'))), [403, 'insufficient_role']);
    t.deepEqual(codeOf(await get(at, wrongKey)), [403, 'insufficient_scope']);
    t.deepEqual(codeOf(await get(at, otherKey)), [404, 'not_found']);
    t.deepEqual(codeOf(await get(at, await signUp(`stranger-${at.length}`))), [404, 'not_found']);
  }
  t.deepEqual(codeOf(await get(`${path}?cursor=x`, key)), [400, 'invalid_request']);
  t.deepEqual(codeOf(await get(`${path}?from=x`, key)), [400, 'invalid_request']);
});

/** Returns the lines before the checkpoint of a tlog-proof, and the checkpoint, whose signature holds. */
function openProof(t: ExecutionContext, text: string) {
  const end = text.indexOf('\n\n');
  const note = parseNote(text.slice(end + 2));
  const checkpoint = parseCheckpointText(note?.text ?? '');
  const verifier = parseVkey(makeNoteSigner(checkpoint?.origin ?? '', auditSeed).vkey);
  const [signature] = note?.signatures ?? [];
  if (note === null || checkpoint === null || verifier === null || signature === undefined) {
    throw new Error('the proof has no signed checkpoint');
  }
  t.true(isSignedBy(verifier, note.text, signature));
  return { head: text.slice(0, end).split('\n'), checkpoint };
}

test('The proof of a project’s event leads from the event to the signed checkpoint', async (t) => {
  const { sign, events, page, project, other, keyFor, get } = await givenAudit(t);
  const key = await keyFor(project, ['audit:read']);
  const size = await sign();
  const path = `/api/v1/projects/${project}/audit`;
  const { items } = await page(`${path}/events?limit=200`, key);
  for (const { index, event } of items) {
    const answer = await get(`${path}/proof?index=${index}`, key);
    t.is(answer.status, 200, answer.text);
    t.is(answer.headers.get('content-type'), 'text/plain; charset=utf-8');
    const { head, checkpoint } = openProof(t, answer.text);
    const [version, at, ...hashes] = head;
    t.deepEqual([version, at], ['c2sp.org/tlog-proof@v1', `index ${index}`]);
    const entry = entryOf({
      ...{ id: event.id, stream: event.stream, type: event.type, revision: BigInt(event.revision) },
      ...{
        recordedAt: new Date(event.recorded_at),
        data: event.data as JsonObject,
        metadata: event.metadata,
      },
    });
    const proof = hashes.map((hash) => Buffer.from(hash, 'base64'));
    t.deepEqual(rootFromInclusion(leafHash(entry), { index, size, proof }), checkpoint.root);
  }
  // An event of another project, of no project, or beyond the signed size has one and the same reply
  const log = await events();
  const replies = await Promise.all(
    [
      log.findIndex(({ stream }) => stream === `project-${other}`),
      log.findIndex(({ type }) => type === 'UserRegistered'),
      size,
      999_999_999_999_999,
    ].map((index) => get(`${path}/proof?index=${index}`, key)),
  );
  t.deepEqual(replies.map(codeOf), Array(4).fill([404, 'not_found']));
  t.is(new Set(replies.map(({ text }) => text)).size, 1);
  for (const query of ['', '?index=', '?index=x', '?index=-1', '?index=01', '?index=1.5']) {
    t.deepEqual(codeOf(await get(`${path}/proof${query}`, key)), [400, 'invalid_request'], query);
  }
});
