import test from 'ava';
import type { CommandHandler } from '../../src/event-sourcing/deciding/command-handler.js';
import { emailAggregate } from '../../src/areas/accounts/domain/email/email.js';
import { runEmailChangeSchedule } from './email-change-schedules.js';

// `DEEP_SEED` and `DEEP_SCHEDULE` (a number from the message of a failure) repeat one schedule with its trace.
const seed = Number(process.env['DEEP_SEED'] ?? '20260102');
const budget = Number(process.env['DEEP_BUDGET'] ?? '1');
const only = process.env['DEEP_SCHEDULE'];
const schedules = Math.ceil(30_000 * budget);

test(`An address belongs to one user through all changes, in ${String(schedules)} schedules`, async (t) => {
  t.timeout(30 * 60_000 * Math.max(1, budget));
  t.log(`DEEP_SEED=${String(seed)}`);
  const tally = new Map<string, number>();
  const first = only === undefined ? 0 : Number(only);
  const last = only === undefined ? schedules - 1 : first;
  for (let schedule = first; schedule <= last; schedule += 1) {
    const problem = await runEmailChangeSchedule(seed + schedule, {
      tally,
      ...(only === undefined ? {} : { traceTo: t.log }),
    });
    if (problem === null) continue;
    t.fail(`${problem}: repeat with DEEP_SEED=${String(seed)} DEEP_SCHEDULE=${String(schedule)}`);
    return;
  }
  t.log(Object.fromEntries(tally));
  t.pass();
  if (schedules < 10_000 || only !== undefined) return;
  for (const what of [
    ...['undone', 'lapsed', 'rejected: credentials_refused'],
    ...['change confirmed', 'released', 'erased', 'asked too soon', 'rejected: email_taken'],
    ...['rejected: email_change_code_refused', 'rejected: email_change_not_pending'],
    ...['reaction finish-email-change', 'reaction release-left-addresses'],
    ...['lost acknowledgement', 'late write', 'long pause'],
    ...['crash before a read', 'crash before an append', 'crash after an append'],
  ]) {
    t.true((tally.get(what) ?? 0) > schedules / 1_000, `the schedules hardly ever met: ${what}`);
  }
});

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

function isCommand(command: unknown, type: string): command is { readonly type: string } {
  return typeof command === 'object' && command !== null && 'type' in command && command.type === type;
}

/** One schedule in some 3,000 finds the second sabotage. */
const sabotagedMax = 200_000;
const sabotages: readonly [string, (handler: CommandHandler) => CommandHandler][] = [
  ['the exact revision of a release', withoutExactRelease],
  ['a separate reservation for each change', withoutOwnReservation],
];

for (const [what, sabotage] of sabotages) {
  test(`The schedules find out that the code lacks ${what}`, async (t) => {
    for (let schedule = 0; schedule < sabotagedMax; schedule += 1) {
      const problem = await runEmailChangeSchedule(seed + schedule, { tally: new Map(), sabotage });
      if (problem === null) continue;
      t.log(`schedule ${String(schedule)}: ${problem}`);
      t.pass();
      return;
    }
    t.fail(`${String(sabotagedMax)} schedules found nothing`);
  });
}
