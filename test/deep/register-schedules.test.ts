import test from 'ava';
import { emailAggregate } from '../../src/areas/accounts/domain/email/email.js';
import { testSchedules } from '../support/simulation/campaigns.js';
import { runSchedule } from './register-schedules.js';
import { isCommand, type Sabotage } from './register-simulation.js';

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

testSchedules(test, {
  title: (schedules) => `One address is registered once, in ${schedules} schedules`,
  ...{ seed: 20_260_102, schedules: 100_000, run: runSchedule, meetsFrom: 1_000 },
  meets: [
    ...['success', 'taken', 'unknown', 'given up', 'refused by one who failed'],
    ...['lost acknowledgement', 'late write', 'long pause'],
    ...['crash before a read', 'crash before an append', 'crash after an append'],
  ],
  sabotages: {
    'the fence in the user’s stream': withoutFence,
    'the exact revision of the reservation': withoutExactRevision,
  },
  sabotagedMax: 20_000,
});
