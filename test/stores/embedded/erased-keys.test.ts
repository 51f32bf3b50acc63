import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { dataKeyRecord } from '../../../src/keys/sealing/envelope.js';
import { makeKeyring } from '../../../src/keys/rings/keyring.js';
import { makeSealer } from '../../../src/keys/sealing/sealer.js';
import { makeTestClock } from '../../support/fakes/clock.js';
import { givenState } from '../../support/given/given-embedded.js';

test.serial('No file holds the data key of an erased person after the service has ended', async (t) => {
  // Given the data keys of 300 persons
  const { directory, stateStore, close } = await givenState(t);
  const masterKeys = makeKeyring([{ kid: 'm1', key: Buffer.alloc(32, 1) }]);
  const sealer = makeSealer({ stateStore, masterKeys, clock: makeTestClock(), randomBytes });
  const persons = Array.from({ length: 300 }, (_, index) => ({
    kind: 'person' as const,
    userId: `019b7d00-0000-7000-8000-${String(index).padStart(12, '0')}`,
  }));
  const keys: Buffer[] = [];
  for (const person of persons) {
    await sealer.seal(person, 'email', 'person@example.org');
    const stored = await stateStore.get(dataKeyRecord(person));
    keys.push(Buffer.from((stored?.value as { wrapped: string }).wrapped));
  }
  // When every second one is erased
  for (const person of persons.filter((_, index) => index % 2 === 0)) await sealer.destroy(person);
  await close();
  // Then the files hold the keys of the others alone
  const files = Buffer.concat(readdirSync(directory).map((name) => readFileSync(join(directory, name))));
  t.deepEqual(
    keys.flatMap((key, index) => (files.includes(key) ? [index] : [])),
    persons.flatMap((_, index) => (index % 2 === 0 ? [] : [index])),
  );
});
