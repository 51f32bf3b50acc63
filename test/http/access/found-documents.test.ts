import test from 'ava';
import { StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import { startTestService } from '../../support/servers/http-service.js';

const absent = '01890000-0000-7000-8000-000000000007';

for (const kind of ['storage', 'asset', 'share'] as const) {
  test(`The gate refuses a caller as ever where the streams of ${kind}s cannot be read`, async (t) => {
    const read: string[] = [];
    let isAway = false;
    const wrap = (store: EventStore): EventStore => ({
      ...store,
      read: (stream, ...rest) => {
        if (isAway) {
          read.push(stream);
          throw new StoreUnavailable('away');
        }
        return store.read(stream, ...rest);
      },
    });
    const { get, post, signUp, makeProject } = await startTestService(t, { storeOptions: { wrap } });
    const [owner, stranger, gone] = [await signUp('owner'), await signUp('stranger'), await signUp('gone')];
    const path = `/api/v1/projects/${await makeProject(owner)}/${kind}s/${absent}`;
    await post('/api/v1/auth/logout', {}, gone);
    const statusFor = async (headers: Readonly<Record<string, string>>) => (await get(path, headers)).status;
    isAway = true;

    t.is(await statusFor(gone), 401);
    t.is(await statusFor(stranger), 404);
    t.deepEqual(read, [], 'refused callers cost no read of the log');
    t.is(await statusFor(owner), 503);
    isAway = false;
    t.is(await statusFor(owner), 404);
  });
}
