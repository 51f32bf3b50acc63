import test from 'ava';
import { aroundCalls } from '../../support/fakes/around-calls.js';
import { startTestService } from '../../support/servers/http-service.js';

/** Notes which calls run at once. Each call takes a turn of the event loop, as one over a network would. */
function givenOverlaps() {
  const running = new Set<string>();
  const overlaps = new Set<string>();
  const watch = <Store extends object>(store: Store, name: string): Store =>
    aroundCalls(store, async (key, run, given) => {
      const call = `${name}.${key} ${typeof given[0] === 'string' ? given[0] : ''}`;
      for (const other of running) overlaps.add([call, other].sort().join(' | '));
      running.add(call);
      await new Promise((resolve) => setImmediate(resolve));
      try {
        return await run();
      } finally {
        running.delete(call);
      }
    });
  return { watch, overlaps };
}

test('A list of invitations reads those by account and those by address side by side', async (t) => {
  const { watch, overlaps } = givenOverlaps();
  const { get, signUp, verify } = await startTestService(t, {
    storeOptions: {
      wrapDocuments: (store) => watch({ ...store, changeToken: () => null }, 'documents'),
      wrapState: (store) => watch(store, 'state'),
    },
  });
  const ada = await signUp('ada');
  await verify('ada');
  const overlapsOf = async (path: string, headers: Readonly<Record<string, string>>) => {
    overlaps.clear();
    const answer = await get(path, headers);
    t.is(answer.status, 200, answer.text);
    return [...overlaps].map((pair) => pair.replaceAll(/@[^ ]+/g, ''));
  };
  t.deepEqual(await overlapsOf('/api/v1/auth/invitations', ada), [
    'documents.find projects | documents.find projects',
  ]);
});
