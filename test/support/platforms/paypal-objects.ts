import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import type { ServerReply } from './platform-server.js';

const wholeUnits: readonly unknown[] = ['HUF', 'JPY', 'TWD'];

interface Amount {
  readonly value: string;
  readonly currency_code: string;
}

/** Returns the number and the money of the one purchase unit. */
export function unitsOf(json: JsonObject) {
  const [unit] = json['purchase_units'] as unknown as readonly {
    readonly custom_id: string;
    readonly amount: Amount;
  }[];
  const { value = '', currency_code: currency = '' } = unit?.amount ?? {};
  return { number: unit?.custom_id ?? '', value, currency };
}

/** Returns what PayPal refuses of an order that shall be made; null if nothing. */
export function orderProblem(json: JsonObject): string | null {
  const { number, value, currency } = unitsOf(json);
  if (json['intent'] !== 'CAPTURE' || !/^[0-9A-Z]{26}$/.test(number)) return 'INVALID_PARAMETER_VALUE';
  if (!/^[A-Z]{3}$/.test(currency)) return 'CURRENCY_NOT_SUPPORTED';
  const shape = wholeUnits.includes(currency) ? /^[1-9]\d*$/ : /^\d+\.\d\d$/;
  if (!shape.test(value)) return 'DECIMAL_PRECISION';
  return backOf(json).every((url) => URL.canParse(url)) ? null : 'INVALID_PARAMETER_SYNTAX';
}

/** Returns where the buyer goes after the page of PayPal. */
function backOf(json: JsonObject): readonly string[] {
  const source = json['payment_source'] as
    { paypal?: { experience_context?: Record<string, string> } } | undefined;
  const { return_url = '', cancel_url = '' } = source?.paypal?.experience_context ?? {};
  return [return_url, cancel_url];
}

/** Writes hundredths as PayPal does. */
export function valueOf(hundredths: number, currency: string): string {
  return wholeUnits.includes(currency) ? String(hundredths / 100) : (hundredths / 100).toFixed(2);
}

export function ok(body: JsonObject): ServerReply {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

export function refusal(status: number, issue: string): ServerReply {
  const name =
    status === 404 ? 'RESOURCE_NOT_FOUND' : status === 400 ? 'INVALID_REQUEST' : 'UNPROCESSABLE_ENTITY';
  // The text quotes the request, which no log of the service may contain.
  const description = 'canary-of-the-message';
  return { ...ok({ name, message: description, details: [{ issue, description }], debug_id: 'd1' }), status };
}
