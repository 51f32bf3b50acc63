import test from 'ava';
import type { CommandHandler } from '../../src/event-sourcing/deciding/command-handler.js';
import { emailAggregate } from '../../src/areas/accounts/domain/email/email.js';
import { testSchedules } from '../support/simulation/campaigns.js';
import { runEmailChangeSchedule } from './email-change-schedules.js';
import { isCommand } from './register-simulation.js';

/** Releases the present reservation without a check of its revision. */
const withoutExactRelease = (handler: CommandHandler): CommandHandler => ({
  ...handler,
  handle: async (target, command, context, options) => {
    if (!isCommand(command, 'Release')) return handler.handle(target, command, context, options);
    const { state } = await handler.load(emailAggregate, target.id);
    const revision = state.status === 'reserved' ? state.revision : -1n;
    return handler.handle(target, { ...command, revision }, context, options);
  },
});

/** Relies on the reservation of an earlier change of the same user. */
const withoutOwnReservation = (handler: CommandHandler): CommandHandler => ({
  ...handler,
  handle: async (target, command, context, options) => {
    if (isCommand(command, 'Reserve')) {
      const { state, revision } = await handler.load(emailAggregate, target.id);
      const reserved = state.status === 'reserved' && 'userId' in command && state.user_id === command.userId;
      if (reserved) return { events: [], revision, position: null, documents: new Map() };
    }
    return handler.handle(target, command, context, options);
  },
});

testSchedules(test, {
  title: (schedules) => `An address belongs to one user through all changes, in ${schedules} schedules`,
  ...{ seed: 20_260_102, schedules: 30_000, run: runEmailChangeSchedule, meetsFrom: 10_000 },
  meets: [
    ...['undone', 'lapsed', 'rejected: credentials_refused'],
    ...['change confirmed', 'released', 'erased', 'asked too soon', 'rejected: email_taken'],
    ...['rejected: email_change_code_refused', 'rejected: email_change_not_pending'],
    ...['reaction finish-email-change', 'reaction release-left-addresses'],
    ...['lost acknowledgement', 'late write', 'long pause'],
    ...['crash before a read', 'crash before an append', 'crash after an append'],
  ],
  sabotages: {
    'the exact revision of a release': withoutExactRelease,
    'a separate reservation for each change': withoutOwnReservation,
  },
  // One schedule in some 3,000 finds the second sabotage.
  sabotagedMax: 200_000,
});
