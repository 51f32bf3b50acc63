import type { PaymentDeps } from '../../deps.js';
import { on } from '../../../../event-sourcing/effects/reaction.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { GrantSource } from '../../../../validation/fields.js';
import type { DomainEvent } from '../../../../event-sourcing/ports/domain-event.js';
import {
  type Aggregate,
  type Loaded,
  type PrepareFurther,
  stepContext,
} from '../../../../event-sourcing/deciding/command-handler.js';
import { Overloaded } from '../../../../kit/semaphore.js';
import {
  type GoneReason,
  type PlacedOrder,
  isDue,
  isRecipientOwed,
  orderAggregate,
} from '../../domain/order/order.js';
import { holds, projectAggregate } from '../../../projects/domain/project/project.js';
import { hasCapacityFrom, userAggregate } from '../../../accounts/domain/user/user.js';

/** Revisions of the order and of the recipient's stream that are known to exist. */
type Seen = { readonly order?: bigint | undefined; readonly recipient?: bigint | undefined };

/** Of streams that were just read, the cache has enough. */
const any: Seen = { order: 0n, recipient: 0n };

/** The user or project of the grant, read from its stream. */
type Recipient =
  /** The user is erased or the project deleted: there is nothing to grant or to revoke, and a payment is reported. */
  | { readonly status: 'gone'; readonly reason: GoneReason }
  | { readonly status: 'there'; readonly holds: boolean; readonly revision: bigint };

interface Situation {
  readonly order: PlacedOrder;
  readonly revision: bigint;
  readonly recipient: Recipient;
}

type Step = 'grant' | 'take-back' | 'mark' | 'report';

const stepsMax = 50;

/**
 * Grants what was bought while the order's facts say so, and otherwise revokes it (src/areas/payments/README.md#orders).
 * The grant names the order as its source, so the grants of other orders do not change.
 */
export function makeFulfilling({ handler }: Pick<PaymentDeps, 'handler'>) {
  const underWay = new Set<string>();
  return {
    /** Says whether this process takes the steps of the order now. */
    isUnderWay: (orderId: string): boolean => underWay.has(orderId),
    /**
     * Says whether the grant differs from the facts. A stream of which an event was seen is read only where the cache lacks the
     * event: a later event of that stream is asked about separately. The other stream is read up to its head.
     */
    isOwed: async (orderId: string, seen: Seen = {}): Promise<boolean> =>
      nextFulfilmentStep(await load(orderId, seen)) !== null,
    /**
     * Takes steps until the order, read after the last step, agrees with the grant. So when two processes act on different facts,
     * the one that writes last corrects the grant. The first step decides on what was read for `isOwed`.
     * @throws StoreUnavailable, Overloaded
     */
    fulfil: async (orderId: string, context: CommandContext): Promise<void> => {
      underWay.add(orderId);
      await fulfil(orderId, context).finally(() => underWay.delete(orderId));
    },
  };

  async function fulfil(orderId: string, context: CommandContext): Promise<void> {
    let seen = any;
    for (let step = 0; step < stepsMax; step += 1) {
      const situation = await load(orderId, seen);
      const next = nextFulfilmentStep(situation);
      if (next !== null && situation !== null)
        seen = { ...any, ...(await run(next, orderId, situation, context)) };
      else if (step === 0 || seen.order === undefined) return;
      // The facts may have changed before the last step.
      else seen = { recipient: seen.recipient };
    }
    throw new Overloaded(`the facts of an order changed ${stepsMax} times while it was fulfilled`);
  }

  async function load(orderId: string, { order: seen, recipient }: Seen): Promise<Situation | null> {
    const { state: order, revision } = await loadSeen(orderAggregate, orderId, seen);
    if (order.status === 'absent' || revision === null) return null;
    return { order, revision, recipient: await recipientOf(orderId, order, recipient) };
  }

  async function loadSeen<State, Command, Event extends DomainEvent>(
    aggregate: Aggregate<State, Command, Event>,
    id: string,
    seen: bigint | undefined,
  ): Promise<Loaded<State>> {
    if (seen !== undefined) {
      const cached = await handler.load(aggregate, id, 'remembered');
      if (cached.revision !== null && cached.revision >= seen) return cached;
    }
    return handler.load(aggregate, id);
  }

  async function recipientOf(
    orderId: string,
    { grant, user_id, project_id }: PlacedOrder,
    seen: bigint | undefined,
  ): Promise<Recipient> {
    if ('capacity_bytes' in grant) {
      const { state, revision } = await loadSeen(userAggregate, user_id, seen);
      if (state.status !== 'registered' || revision === null)
        return { status: 'gone', reason: 'buyer_erased' };
      return { status: 'there', holds: hasCapacityFrom(state, orderId), revision };
    }
    const { state, revision } = await loadSeen(projectAggregate, project_id ?? '', seen);
    if (state.status !== 'existing' || revision === null)
      return { status: 'gone', reason: 'project_deleted' };
    const { entitlement } = grant;
    return { status: 'there', holds: holds(state, { entitlement, source: orderId }), revision };
  }

  /** A step's command id contains the revision that it was decided on, because the same step may come again. */
  async function run(
    step: Step,
    orderId: string,
    { order, revision, recipient }: Situation,
    context: CommandContext,
  ): Promise<Seen> {
    // A stale state meets a refused append, and is read again.
    const load = 'remembered' as const;
    const ofOrder = orderAggregate.at(orderId);
    const mark = { type: isDue(order) ? 'MarkFulfilled' : 'MarkRevoked' } as const;
    const marked = stepContext(context, `mark/${revision}`);
    if (step === 'mark') return { order: revisionOf(await handler.handle(ofOrder, mark, marked, { load })) };
    if (recipient.status === 'gone') {
      const gone = { type: 'MarkRecipientGone', reason: recipient.reason } as const;
      const step = stepContext(context, `gone/${revision}`);
      return { order: revisionOf(await handler.handle(ofOrder, gone, step, { load })) };
    }
    const { grant, user_id, project_id } = order;
    const stepped = stepContext(context, `${step}/${recipient.revision}`);
    const source = orderId;
    const options = {
      load,
      further: (_: unknown, prepare: PrepareFurther) => prepare(ofOrder, mark, marked),
    };
    if ('capacity_bytes' in grant) {
      const bytes = grant.capacity_bytes;
      const command =
        step === 'grant'
          ? ({ type: 'GrantCapacity', source, bytes } as const)
          : ({ type: 'RevokeCapacity', source } as const);
      const given = await handler.handle(userAggregate.at(user_id), command, stepped, options);
      return { recipient: revisionOf(given) };
    }
    const type = step === 'grant' ? 'GrantEntitlement' : 'RevokeEntitlement';
    const command = { type, entitlement: grant.entitlement, source } as const;
    const given = await handler.handle(projectAggregate.at(project_id ?? ''), command, stepped, options);
    return { recipient: revisionOf(given) };
  }
}

function revisionOf({ revision }: { readonly revision: bigint | null }): bigint {
  return revision ?? 0n;
}

/** Returns the grant itself first, then its mark on the order; null when both agree with the facts. */
export function nextFulfilmentStep(situation: Situation | null): Step | null {
  if (situation === null) return null;
  const { order, recipient } = situation;
  const due = isDue(order);
  if (recipient.status === 'gone') return stepWithoutRecipient(order);
  if (recipient.holds !== due) return due ? 'grant' : 'take-back';
  return order.is_granted === due ? null : 'mark';
}

/** A payment that no person can use is reported to the operators: src/areas/payments/README.md#orders. */
function stepWithoutRecipient(order: PlacedOrder): Step | null {
  if (order.is_granted && !isDue(order)) return 'mark';
  return isRecipientOwed(order) ? 'report' : null;
}

type Fulfilling = ReturnType<typeof makeFulfilling>;

/**
 * Grants or revokes what was bought, after every event that may change whether it is due. Reports a payment whose recipient
 * is gone.
 */
export function fulfilOrders({ isOwed, fulfil }: Fulfilling) {
  return on(orderAggregate, ['PaymentCaptured', 'RefundReported', 'DisputeClosed', 'ReviewResolved'], {
    name: 'fulfil-orders',
    isDue: (id, { revision }) => isOwed(id, { order: revision }),
    run: fulfil,
  });
}

/**
 * Compares capacity that an order gave or took with the order's facts, after every such event. A process may append a
 * grant that it decided on before a refund, and stop: docs/decisions/orders.md#0063-grants-are-checked-again.
 */
export function checkCapacityGrants(fulfilling: Fulfilling) {
  return on(userAggregate, ['CapacityGranted', 'CapacityRevoked'], {
    ...{ name: 'check-capacity-grants', ...checkOf(fulfilling) },
  });
}

/** Does for entitlements of projects what `checkCapacityGrants` does for capacity. */
export function checkEntitlementGrants(fulfilling: Fulfilling) {
  return on(projectAggregate, ['EntitlementGranted', 'EntitlementRevoked'], {
    ...{ name: 'check-entitlement-grants', ...checkOf(fulfilling) },
  });
}

interface GrantChanged {
  readonly revision: bigint;
  readonly data: { readonly source: GrantSource };
}

function checkOf({ isOwed, isUnderWay, fulfil }: Fulfilling) {
  return {
    isDue: async (_id: string, { data, revision }: GrantChanged) => {
      const orderId = orderOf(data.source);
      if (orderId === null) return false;
      // The steps of this process end with the mark on the order, and with a look at it.
      return isUnderWay(orderId) ? 'not-yet' : isOwed(orderId, { recipient: revision });
    },
    run: async (_id: string, context: CommandContext, { data }: GrantChanged) => {
      const orderId = orderOf(data.source);
      if (orderId !== null) await fulfil(orderId, context);
    },
  };
}

/** Returns the order that is the source of a grant; null for any other source. */
function orderOf(source: GrantSource): string | null {
  return source === 'registration' || source === 'operator' ? null : source;
}
