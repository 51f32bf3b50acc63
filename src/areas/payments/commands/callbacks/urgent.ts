import type { CommandHandler } from '../../../../event-sourcing/deciding/command-handler.js';

/**
 * Returns a handler for the request of a platform, whose command id no other attempt uses (src/areas/payments/README.md#payment-callbacks).
 * It decides on cached state first, appends once and waits for no document. A stream that is not cached is assumed to be
 * new, because a payment is usually the first report of its transaction. Where it is not, the append is refused, and the command
 * is decided again on a fresh read.
 */
export function makeUrgent(handler: CommandHandler): CommandHandler {
  return {
    load: (aggregate, id, load = 'remembered') => handler.load(aggregate, id, load),
    handle: (target, command, context, options) =>
      handler.handle(target, command, context, {
        ...options,
        ...{ isUrgent: true, load: 'new', appendTries: 1 },
      }),
  };
}
