import { platformOf } from '../../../src/areas/payments/domain/order/events.js';
import { notificationName, ownStreamId, reportName } from '../../../src/areas/payments/domain/payment.js';

/** Returns the key of the report that a callback forwards for one of its notifications. */
export function forwardedKey(reportKey: string, index: number): string {
  return notificationName(reportName(ownStreamId(platformOf(reportKey), reportKey), 0), index);
}
