import test, { type ExecutionContext } from 'ava';
import { entryOf } from '../../../../src/areas/audit/tree/canonical-json.js';
import { leafHash } from '../../../../src/areas/audit/tree/merkle.js';
import {
  isSignedBy,
  makeNoteSigner,
  parseCheckpointText,
  parseNote,
  parseVkey,
} from '../../../../src/areas/audit/tree/note.js';
import type { JsonObject } from '../../../../src/event-sourcing/ports/domain-event.js';
import { auditSeed } from '../../../support/audit/audit-scene.js';
import { codeOf, givenAudit } from '../../../support/audit/given-audit.js';
import { rootFromInclusion } from '../../../support/audit/inclusion.js';

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
  // A filter for another project's stream shows nothing more, and there is no filter by project.
  t.deepEqual((await page(`${path}?stream=project-${other}`, key)).items, []);
  t.deepEqual(codeOf(await get(`${path}?project=${other}`, key)), [400, 'invalid_request']);

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
