import { randomUUID } from 'node:crypto';
import type { CommandHandler } from '../../src/event-sourcing/command-handler.js';
import type { Aggregate } from '../../src/event-sourcing/decider.js';
import type { DomainEvent } from '../../src/event-sourcing/domain-event.js';
import { withDecide } from './with-decide.js';

/** Appends what was decided by nobody, and writes its documents: states that take many commands to reach are as good as any. */
export async function appendEvents<State, Command, Event extends DomainEvent>(
  handler: CommandHandler,
  { aggregate, id }: { readonly aggregate: Aggregate<State, Command, Event>; readonly id: string },
  events: readonly NoInfer<Event>[],
  time: Date,
): Promise<void> {
  const commandId = randomUUID();
  await handler.handle({ aggregate: withDecide(aggregate, () => events), id }, null, {
    ...{ commandId, causationId: commandId, correlationId: commandId },
    ...{ actor: 'anonymous', time },
  });
}
