import test from 'ava';
import { pluck } from '../support/given/pluck.js';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { registerAuditor, asObject, makeServiceClient } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { givenDirectory, givenService } from '../support/servers/service-process.js';

const password = 'Correct-Horse-7';

test('A running service shows an auditor who did what, and a project as it stood before a change', async (t) => {
  // Given a service with an auditor, and a project that its owner renames
  const data = givenDirectory(t);
  const service = await givenService(t, { directory: data, environment: {} });
  const client = makeServiceClient(service.url);
  const { headers: auditor } = await registerAuditor(client, data);
  const { headers: owner, userId } = await client.register('eve@example.org', password);
  const project = await client.makeProject(owner, 'Launch');
  const path = `/api/v1/projects/${project}`;
  t.is((await client.patch(path, { name: 'Landing' }, owner)).status, 200);
  // When the service has signed both events
  const list = async (query: string): Promise<readonly JsonObject[]> => {
    const reply = await client.get(`/audit/events?${query}`, auditor);
    return reply.status === 200 ? (reply.json()['items'] as JsonObject[]) : [];
  };
  await eventually(
    'the change is signed',
    async () => (await list(`project=${project}&type=ProjectRenamed`)).length === 1,
    { pollMs: 250 },
  );
  // Then the auditor reads them in words
  const items = await list(`project=${project}`);
  t.deepEqual(pluck(items, 'words'), [
    `User ${userId} renamed project ${project} to "Landing".`,
    `User ${userId} created project ${project} with the name "Launch" and the owner ${userId}.`,
  ]);
  // and the project as it stood before and after
  const [renamed] = items;
  const index = Number(renamed?.['index']);
  for (const [at, name] of [
    [index, 'Landing'],
    [index - 1, 'Launch'],
  ] as const) {
    const stood = await client.get(`/audit/streams/project-${project}?as_of=${at}`, auditor);
    t.is(stood.status, 200, stood.text);
    t.is(asObject(asObject(stood.json()['views'])['projects'])['name'], name);
  }
  // and the owner gets a proof
  const proof = await client.get(`${path}/audit/proof?index=${index}`, owner);
  t.true(proof.text.startsWith(`c2sp.org/tlog-proof@v1\nindex ${index}\n`), proof.text);
});
