import { randomUUID } from 'node:crypto';
import type { Aggregate, CommandHandler } from '../../../src/event-sourcing/deciding/command-handler.js';
import type { DomainEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import { withDecide } from './with-decide.js';

/**
 * Appends events that no command has decided, and writes their documents. It reaches states that otherwise need many
 * commands.
 */
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
