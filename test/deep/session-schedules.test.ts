import test from 'ava';
import type { Aggregate } from '../../src/event-sourcing/deciding/command-handler.js';
import type { DomainEvent } from '../../src/event-sourcing/ports/domain-event.js';
import { sessionCategory } from '../../src/areas/accounts/domain/session/events.js';
import { userAggregate } from '../../src/areas/accounts/domain/user/user.js';
import { userId } from '../support/examples/ids.js';
import { withDecide } from '../support/given/with-decide.js';
import { testSchedules } from '../support/simulation/campaigns.js';
import { runSchedule } from './session-schedules.js';
import type { Sabotage } from './register-simulation.js';

const withoutWaiting: Sabotage = (handler) => ({
  ...handler,
  handle: (target, command, context) => handler.handle(target, command, context),
});

/** Simulates a refresh that does not read its user. */
const withoutEpoch: Sabotage = (handler) => ({
  ...handler,
  load: async <State, Command, Event extends DomainEvent>(
    aggregate: Aggregate<State, Command, Event>,
    id: string,
  ) => {
    const loaded = await handler.load(aggregate, id);
    const { state } = loaded;
    return isRegistered(state) ? { ...loaded, state: { ...state, epoch: 0 } } : loaded;
  },
});

/** Simulates a sign-in by code that reads its user after the use of the code, and not before. */
const withoutLookBefore: Sabotage = (handler) => {
  let later: number | null = null;
  return {
    ...handler,
    load: async <State, Command, Event extends DomainEvent>(
      aggregate: Aggregate<State, Command, Event>,
      id: string,
    ) => {
      const loaded = await handler.load(aggregate, id);
      const { state } = loaded;
      if (!isRegistered(state)) return loaded;
      const { epoch } = state;
      const looking = {
        ...state,
        get epoch() {
          return later ?? epoch;
        },
      };
      return { ...loaded, state: looking };
    },
    handle: async (target, command, context, options) => {
      const handled = await handler.handle(target, command, context, options);
      if (target.id !== userId) {
        const { state } = await handler.load(userAggregate, userId);
        later = isRegistered(state) ? state.epoch : null;
      }
      return handled;
    },
  };
};

/** Simulates an answer that comes from the command and not from the log. */
const withoutExactRevision: Sabotage = (handler) => ({
  ...handler,
  handle: async (target, command, context, options) => {
    const { aggregate } = target;
    if (aggregate.category !== sessionCategory) return handler.handle(target, command, context, options);
    // The decision uses the state from before another writer's append.
    const stale = await handler.load(aggregate, target.id);
    const late = withDecide(aggregate, () => aggregate.decider.decide(command, stale.state));
    return handler.handle({ ...target, aggregate: late }, command, context, options);
  },
});

function isRegistered(state: unknown): state is { readonly epoch: number } {
  return typeof state === 'object' && state !== null && 'epoch' in state && 'password_hash' in state;
}

testSchedules(test, {
  title: (schedules) => `The end of sessions prevails over concurrent calls, in ${schedules} schedules`,
  ...{ seed: 20_260_103, schedules: 8_000, run: runSchedule, meetsFrom: 1_000 },
  meets: [
    ...['refresh passed', 'refresh session_over', 'refresh refresh_token_reused', 'authenticate passed'],
    ...['authenticate invalid_token', 'strengthen passed', 'login passed', 'refused after an ending'],
    ...['code passed', 'code credentials_refused', 'code before an ending'],
    ...['logout passed', 'logout-all passed', 'password passed', 'password unknown'],
    ...['lost acknowledgement', 'late write', 'long pause', 'crash before a document'],
  ],
  sabotages: {
    'the wait for the documents': withoutWaiting,
    'the user’s epoch': withoutEpoch,
    'the read of the user before the use of the code': withoutLookBefore,
    'the decision on the current log': withoutExactRevision,
  },
  sabotagedMax: 5_000,
});
