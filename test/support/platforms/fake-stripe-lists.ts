import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import type { ReceivedRequest } from './platform-server.js';

/** An object as Stripe lists it. */
export interface StripeItem {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly json: JsonObject;
}

type ListReply = JsonObject | 'resource_missing' | 'parameter_invalid';

/**
 * Answers a request for a list as Stripe does: the newest first, and bounded by `created` and `limit`.
 * @param items the oldest first @param pageMax the most items of a page, however many are asked for
 */
export function listOf(
  { path }: Pick<ReceivedRequest, 'path'>,
  items: readonly StripeItem[],
  pageMax: number,
): ListReply {
  const url = new URL(path, 'https://api.stripe.com');
  const query = url.searchParams;
  const [from, to] = [Number(query.get('created[gte]')), Number(query.get('created[lt]'))];
  const limit = Number(query.get('limit') ?? 10);
  const types: unknown[] = [...query].filter(([name]) => /^types\[\d+\]$/.test(name)).map(([, type]) => type);
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || !(limit >= 1 && limit <= 100)) {
    return 'parameter_invalid';
  }
  if (types.length > 20) return 'parameter_invalid';
  const newestFirst = items.toReversed().filter(({ created, json }) => {
    const isOfType = types.length === 0 || types.includes(json['type']);
    return created >= from && created < to && isOfType;
  });
  const last = query.get('starting_after');
  if (last !== null && !items.some(({ id }) => id === last)) return 'resource_missing';
  const rest = newestFirst.slice(last === null ? 0 : newestFirst.findIndex(({ id }) => id === last) + 1);
  const page = rest.slice(0, Math.min(limit, pageMax));
  return {
    ...{ object: 'list', url: url.pathname, has_more: page.length < rest.length },
    // The objects of the platform have many more fields.
    data: page.map(({ json }) => ({ ...json, description: 'x'.repeat(32_768) })),
  };
}
