import test from 'ava';
import type { Services } from '../../src/composition/services.js';
import { runDailyTasks } from '../../src/composition/tasks/daily-tasks.js';
import { realClock } from '../support/fakes/clock.js';
import { partial } from '../support/fakes/partial.js';

test('The end of the process does not wait for a platform that is being asked', async (t) => {
  let begun = (): void => undefined;
  const asking = new Promise<void>((resolve) => (begun = resolve));
  const services = partial<Services>({
    clock: realClock,
    noteRetry: (sentence) => t.fail(sentence),
    mails: null,
    config: partial<Services['config']>({ operatorMail: [] }),
    readers: partial<Services['readers']>({}),
    stores: partial<Services['stores']>({}),
    log: partial<Services['log']>({ logger: partial<Services['log']['logger']>({}) }),
    commands: partial<Services['commands']>({
      reconcileDaily: () => {
        begun();
        return new Promise(() => undefined);
      },
    }),
  });
  const stopping = new AbortController();
  const tasks = runDailyTasks(services, stopping.signal);
  await asking;
  stopping.abort();
  const late = realClock.sleep(5_000).then(() => 'late');
  t.is(await Promise.race([tasks, late]), undefined);
});
