import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { makeServiceClient, type SignedIn } from '../support/clients/service-client.js';
import { overload, unlimitedRates } from '../support/servers/overload.js';
import { givenDirectory, givenService } from '../support/servers/service-process.js';

test('With 1,200 requests in flight the health is answered, others are answered or 503 with Retry-After, and a refused one made nothing', async (t) => {
  // Given a service with users
  const directory = givenDirectory(t);
  const limitsFile = join(directory, 'limits.json');
  await writeFile(limitsFile, JSON.stringify(unlimitedRates));
  const environment = { LIMITS_FILE: limitsFile, LOG_LEVEL: 'warn' };
  const service = await givenService(t, { directory, environment });
  const client = makeServiceClient(service.url);
  const users: SignedIn[] = [];
  for (let n = 0; n < 12; n += 1) users.push(await client.register(`ada${n}@example.org`, 'Correct-Horse-7'));

  // When they keep far more requests in flight than the process has places
  const { counts, flaws } = await overload(service.url, users, {
    inFlight: 1_200,
    seconds: 10,
  });

  // Then the replies are those of the calls or 503 with Retry-After, and the health is always answered
  t.deepEqual(flaws, []);
  const allowed = ['200', '201', '409 project_limit_reached', '503 overloaded'];
  t.deepEqual(
    [...counts.keys()].filter((key) => !allowed.includes(key)),
    [],
  );
  t.true((counts.get('200') ?? 0) > 0 && (counts.get('503 overloaded') ?? 0) > 0);
  // and the projects are those that were acknowledged, with those in flight that passed the limit of a hundred
  let made = 0;
  for (const { headers } of users) {
    const { items } = (await client.get('/api/v1/projects?limit=200', headers)).json();
    made += Array.isArray(items) ? items.length : 0;
  }
  t.is(made, counts.get('201') ?? 0);
});
