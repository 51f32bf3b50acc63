import test from 'ava';
import { StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import { MailNotSent, MailRefused, MailUnknown, type Mailer } from '../../src/mail/mailer.js';
import type { MailOutcome } from '../../src/validation/fields.js';
import { givenMails } from '../support/given/given-mails.js';
import { givenStores } from '../support/given/given-stores.js';

const id = '018f0000-0000-7000-8000-000000000001';
const mail = { id, to: { name: '', address: 'ada@example.org' }, subject: 'S', text: 'T', html: null };

/** What the mail server does with an attempt. */
type Act = 'accepts' | 'refuses' | 'defers' | 'defers the content' | 'says nothing';

/** Makes processes that share their stores, a kind of mails, and a mail server that follows a script. */
async function given(...script: readonly Act[]) {
  const stores = await givenStores();
  const { clock } = stores;
  const left = [...script];
  const [attempts, copies, outcomes]: [Date[], Date[], MailOutcome[]] = [[], [], []];
  const scene = { isWanted: true, append: (): Promise<void> => Promise.resolve() };
  const send: Mailer['send'] = async (_mail, _signal, handOver) => {
    const act = left.length > 1 ? left.shift() : left[0];
    attempts.push(clock.now());
    if (act === 'refuses') throw new MailRefused('550');
    if (act === 'defers') throw new MailNotSent('451');
    await handOver();
    if (act === 'defers the content') throw new MailNotSent('451');
    copies.push(clock.now());
    if (act === 'says nothing') throw new MailUnknown('timeout');
  };
  const start = (sending: Mailer['send'] = send) => {
    const process = givenMails(stores, { send: sending });
    const add = process.mails.add({
      name: 'codes',
      open: () => {
        if (!scene.isWanted) return Promise.resolve(null);
        return Promise.resolve({
          mail,
          record: async (outcome) => {
            await scene.append();
            outcomes.push(outcome);
            scene.isWanted = false;
          },
        });
      },
    });
    return { ...process, request: () => add({ id, event: null, person: null }) };
  };
  const begunAt = clock.now().getTime();
  const secondsOf = (dates: readonly Date[]): number[] => dates.map((at) => (at.getTime() - begunAt) / 1_000);
  const pass = async (process: ReturnType<typeof start>, seconds: number): Promise<void> => {
    for (let n = 0; n < seconds; n += 1) {
      await process.deliver();
      clock.advance(1_000);
    }
  };
  return {
    ...{ stores, start, scene, outcomes, clock, pass },
    seconds: () => [attempts, copies].map(secondsOf),
  };
}

const minute = 60;
const rows: Readonly<
  Record<string, readonly [script: readonly Act[], attempts: number[], copies: number[], MailOutcome | null]>
> = {
  'is accepted at once': [['accepts'], [0], [0], 'accepted'],
  'is refused for good': [['refuses'], [0], [], 'refused'],
  'was not sent is repeated soon': [['defers', 'defers', 'accepts'], [0, 1, 3], [3], 'accepted'],
  'is deferred after its content is repeated soon': [
    ['defers the content', 'accepts'],
    [0, 1],
    [1],
    'accepted',
  ],
  'gets no answer is repeated after a minute': [['says nothing', 'accepts'], [0, 60], [0, 60], 'accepted'],
  'never gets an answer has four copies': [
    ['says nothing'],
    [0, minute, 11 * minute, 71 * minute],
    [0, minute, 11 * minute, 71 * minute],
    'unknown',
  ],
};
for (const [what, [script, attempts, copies, outcome]] of Object.entries(rows)) {
  test(`A mail that ${what}, and has one outcome`, async (t) => {
    const { start, seconds, outcomes, pass } = await given(...script);
    const process = start();
    for (let n = 0; n < 2; n += 1) await process.request();
    await pass(process, 75 * minute);
    t.deepEqual(seconds(), [attempts, copies]);
    t.deepEqual(outcomes, outcome === null ? [] : [outcome]);
    t.deepEqual(await process.records(), []);
  });
}

test('A mail that was put off while the clock was a year ahead does not wait for a year', async (t) => {
  const { start, clock, outcomes, pass } = await given('defers', 'accepts');
  const process = start();
  const yearMs = 365 * 86_400_000;
  clock.advance(yearMs);
  await process.request();
  await process.deliver();
  clock.advance(-yearMs);
  await pass(process, 1);
  t.deepEqual(outcomes, ['accepted']);
});

test('A mail server that is away is tried at most once a minute in the end', async (t) => {
  const { start, seconds, pass } = await given('defers');
  const process = start();
  await process.request();
  await pass(process, 200);
  t.deepEqual(seconds()[0], [0, 1, 3, 7, 15, 31, 63, 123, 183]);
});

test('A mail that is not wanted any more has no further copy, and none where the server let it wait', async (t) => {
  const { start, scene, seconds, outcomes, pass, clock } = await given('says nothing', 'accepts');
  const process = start();
  await process.request();
  await process.deliver();
  scene.isWanted = false;
  await pass(process, 2 * minute);
  t.deepEqual([seconds()[1], outcomes, await process.records()], [[0], [], []]);
  // A server that lets the mail wait until its content has ended
  scene.isWanted = true;
  let handedOver = 0;
  const slow = start(async (_mail, _signal, handOver) => {
    clock.advance(600_000);
    scene.isWanted = false;
    await handOver();
    handedOver += 1;
  });
  await slow.request();
  await slow.deliver();
  t.deepEqual([handedOver, outcomes, await slow.records()], [0, [], []]);
});

test('A process that dies with a mail in the hands of the server leaves it to another one a minute later', async (t) => {
  const { start, seconds, pass } = await given('accepts');
  const died = start(async (_mail, _signal, handOver) => {
    await handOver();
    return new Promise<never>(() => undefined);
  });
  await died.request();
  void died.deliver();
  await new Promise(setImmediate);
  await pass(start(), 2 * minute);
  t.deepEqual(seconds(), [[minute], [minute]]);
});

test('A mail of a kind that only another release has stays as it is', async (t) => {
  const { stores, start, pass, seconds } = await given('accepts');
  await start().request();
  const [before] = await start().records();
  // When a process without kinds looks
  const older = givenMails(stores, { send: () => Promise.reject(new Error('it is sent')) });
  await older.deliver();
  t.deepEqual(await older.records(), [before]);
  // Then another one delivers it
  await pass(start(), 1);
  t.deepEqual(seconds()[1], [0]);
});

test('Of two processes with one mail, one hands it over', async (t) => {
  const { start, seconds, outcomes } = await given('accepts');
  const [one, other] = [start(), start()];
  await one.request();
  await Promise.all([one.deliver(), other.deliver()]);
  t.deepEqual([seconds()[1], outcomes], [[0], ['accepted']]);
});

test('An outcome that cannot be recorded is recorded later, and the mail is not sent again', async (t) => {
  const { start, scene, seconds, outcomes } = await given('accepts');
  let failures = 3;
  scene.append = () => {
    failures -= 1;
    return failures < 0 ? Promise.resolve() : Promise.reject(new StoreUnavailable('away'));
  };
  const process = start();
  await process.request();
  await process.deliver();
  t.deepEqual([seconds()[1], outcomes], [[0], ['accepted']]);
});
