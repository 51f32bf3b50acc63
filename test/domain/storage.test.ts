import test from 'ava';
import { storageAggregate } from '../../src/domain/storage/storage.js';
import { projectId } from '../support/examples/ids.js';
import { configuration, credentials, storageCreated } from '../support/examples/storage.js';
import { given } from '../support/given.js';

const create = { type: 'Create', projectId, configuration, credentialsVersion: 1, credentials } as const;

test('A storage is created with its configuration and sealed credentials', (t) => {
  given(storageAggregate).when(create).then(t, storageCreated);
  t.deepEqual(given(storageAggregate, storageCreated).state, {
    status: 'pending',
    projectId,
    credentialsVersion: 1,
  });
});

test('Credentials in the clear cannot be stored', (t) => {
  const clear = { ...storageCreated, data: { ...storageCreated.data, credentials: { access_key: 'AKIA' } } };
  // @ts-expect-error -- the types refuse it too
  t.throws(() => storageAggregate.codec.encode(clear), { name: 'UndecodableEvent' });
});
