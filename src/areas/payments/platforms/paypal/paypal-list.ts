import { invalid } from '../../../../validation/invalid-request.js';
import { type Fields, at, listAt, textAt } from '../calls/parsing.js';
import type { PayPalClient } from './paypal-client.js';
import { readPayPalReport } from './paypal-events.js';
import { unreadableReply } from '../calls/platform-replies.js';
import type { ListingMaker } from '../queried-payment.js';

const path = '/v1/notifications/webhooks-events';
const pageMax = 50;
const bodyBytesMax = 4_194_304;
/** The query of a page, which PayPal chooses. */
const placeShape = /^[\w.~%&=:+,-]{1,1024}$/;

/**
 * Makes the list of the events that PayPal has sent, or tried to send, to the app ("List event notifications"). The key is
 * the event's id, and not that of a callback, which is the id of its transmission: PayPal does not list it. A place is the
 * query of the page.
 */
export function makePayPalList(client: PayPalClient): Pick<ListingMaker, 'listReports'> {
  return {
    listReports: async ({ from, to }, after) => {
      if (after !== null && !placeShape.test(after)) invalid('after', 'is no `next` of such a call');
      const query = after ?? `page_size=${pageMax}&start_time=${timeOf(from)}&end_time=${timeOf(to)}`;
      const page = await client({ method: 'GET', path: `${path}?${query}`, bodyBytesMax });
      if (!Array.isArray(at(page, 'events'))) return unreadableReply();
      const events = listAt(page, 'events');
      // A page without events may have a link to another one.
      return { reports: events.map(reportOf), next: events.length === 0 ? null : nextOf(page) };
    },
  };
}

function reportOf(event: unknown) {
  const id = textAt(event, 'id') ?? unreadableReply();
  return readPayPalReport(event as Fields, `event-${id}`.slice(0, 256)) ?? unreadableReply();
}

/** Returns the query of the next page. The address of the link is not used. PayPal's examples escape it as in HTML. */
function nextOf(page: Fields): string | null {
  const link = listAt(page, 'links').find((one) => at(one, 'rel') === 'next');
  if (link === undefined) return null;
  const address = (textAt(link, 'href', 4_096) ?? '').replaceAll('&amp;', '&');
  const query = /\/v1\/notifications\/webhooks-events\/?\?(.*)$/.exec(address)?.[1];
  return query !== undefined && placeShape.test(query) ? query : unreadableReply();
}

/** PayPal's examples have no milliseconds. */
function timeOf(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
