import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { ok, refusal } from './paypal-objects.js';
import type { ServerReply } from './platform-server.js';

const path = '/v1/notifications/webhooks-events';

/**
 * Answers a request for the list of events as PayPal does: the newest first, by times of their making, with a link to the next
 * page. @param events the oldest first @param pageMax the most events of a page, however many are asked for
 */
export function eventsOf(requestPath: string, events: readonly JsonObject[], pageMax: number): ServerReply {
  const url = new URL(requestPath, 'https://api-m.paypal.com');
  const query = url.searchParams;
  const [from, to] = ['start_time', 'end_time'].map((name) => query.get(name) ?? '');
  const size = Number(query.get('page_size') ?? 10);
  const isTime = (text = '') => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text);
  if (url.pathname !== path || !isTime(from) || !isTime(to) || !(size >= 1)) {
    return refusal(400, 'INVALID_PARAMETER_SYNTAX');
  }
  const found = events.toReversed().filter(({ create_time: time }) => {
    const at = typeof time === 'string' ? Date.parse(time) : NaN;
    return at >= Date.parse(from ?? '') && at <= Date.parse(to ?? '');
  });
  const begin = Number(query.get('index_id') ?? 0);
  const page = found.slice(begin, begin + Math.min(size, pageMax));
  query.set('move_to', 'next');
  query.set('index_id', String(begin + page.length));
  const escaped = query.toString().replaceAll('&', '&amp;');
  const next = { rel: 'next', method: 'GET', href: `https://api-m.paypal.com${path}/?${escaped}` };
  const isEnd = begin + page.length >= found.length;
  // The objects of the platform have many more fields.
  const whole = page.map((event) => ({ ...event, summary: 'x'.repeat(32_768) }));
  return ok({ events: whole, count: page.length, links: isEnd ? [] : [next] });
}
