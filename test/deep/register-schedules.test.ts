import test from 'ava';
import type { CommandHandler } from '../../src/event-sourcing/deciding/command-handler.js';
import { emailAggregate } from '../../src/areas/accounts/domain/email/email.js';
import { runSchedule } from './register-schedules.js';
import type { Sabotage } from './register-simulation.js';

// `DEEP_SEED` and `DEEP_SCHEDULE` (a number from the message of a failure) repeat one schedule with its trace.
const seed = Number(process.env['DEEP_SEED'] ?? '20260102');
const budget = Number(process.env['DEEP_BUDGET'] ?? '1');
const only = process.env['DEEP_SCHEDULE'];
const schedules = Math.ceil(100_000 * budget);

test(`One address is registered once, in ${String(schedules)} schedules`, async (t) => {
  t.timeout(30 * 60_000 * Math.max(1, budget));
  t.log(`DEEP_SEED=${String(seed)}`);
  const tally = new Map<string, number>();
  const first = only === undefined ? 0 : Number(only);
  const last = only === undefined ? schedules - 1 : first;
  for (let schedule = first; schedule <= last; schedule += 1) {
    const problem = await runSchedule(seedOf(schedule), {
      tally,
      ...(only === undefined ? {} : { traceTo: t.log }),
    });
    if (problem === null) continue;
    t.fail(`${problem}: repeat with DEEP_SEED=${String(seed)} DEEP_SCHEDULE=${String(schedule)}`);
    return;
  }
  t.log(Object.fromEntries(tally));
  t.pass();
  if (schedules < 1_000 || only !== undefined) return;
  for (const what of [
    ...['success', 'taken', 'unknown', 'given up', 'refused by one who failed'],
    ...['lost acknowledgement', 'late write', 'long pause'],
    ...['crash before a read', 'crash before an append', 'crash after an append'],
  ]) {
    t.true((tally.get(what) ?? 0) > schedules / 1_000, `the schedules hardly ever met: ${what}`);
  }
});

test('Of two registrations that take over an abandoned one, the slower is refused as taken', async (t) => {
  // In this schedule the other command ends the abandoned user between two reads of the slower one.
  t.is(await runSchedule(1_664_910_641, { tally: new Map() }), null);
});

const withoutFence: Sabotage = (handler) => ({
  ...handler,
  handle: (target, command, context, options) =>
    isCommand(command, 'AbandonRegistration')
      ? Promise.resolve({ events: [], revision: null, position: null, documents: new Map() })
      : handler.handle(target, command, context, options),
});

const withoutExactRevision: Sabotage = (handler) => ({
  ...handler,
  handle: async (target, command, context, options) => {
    if (!isCommand(command, 'Reserve')) return handler.handle(target, command, context, options);
    const { revision } = await handler.load(emailAggregate, target.id);
    return handler.handle(target, { ...command, replaces: revision }, context, options);
  },
});

function isCommand(command: unknown, type: string): boolean {
  return typeof command === 'object' && command !== null && 'type' in command && command.type === type;
}

const sabotages: readonly [string, (handler: CommandHandler) => CommandHandler][] = [
  ['the fence in the user’s stream', withoutFence],
  ['the exact revision of the reservation', withoutExactRevision],
];

for (const [what, sabotage] of sabotages) {
  test(`The schedules find out that the code lacks ${what}`, async (t) => {
    for (let schedule = 0; schedule < 20_000; schedule += 1) {
      const problem = await runSchedule(seedOf(schedule), { tally: new Map(), sabotage });
      if (problem === null) continue;
      t.log(`schedule ${String(schedule)}: ${problem}`);
      t.pass();
      return;
    }
    t.fail('20,000 schedules found nothing');
  });
}

/** Spreads the numbers of schedules over the seeds (Knuth's multiplicative hashing). */
function seedOf(schedule: number): number {
  return (seed + Math.imul(schedule + 1, 2_654_435_761)) >>> 0;
}
