import { type MakerSurroundings, fieldsOfReply } from '../calls/platform-calls.js';

const publicUrl = 'https://api.stripe.com';
/** The version of Stripe's API whose requests a test compares with those of Stripe's SDK. */
export const stripeVersion = '2026-10-28.endive';

/** The credentials with which the service makes payments and refunds. */
export type StripeApi = { readonly secretKey: string };

/** The names and values of a form, or of a query. */
export type StripeForm = readonly (readonly [string, string])[];

export type StripeRequest = { readonly path: string; readonly form: StripeForm } & (
  | { readonly method: 'POST'; readonly idempotencyKey: string }
  | { readonly method: 'GET'; /** The bytes of the reply to read. */ readonly bodyBytesMax: number }
);

/** Sends a request, and returns the object of the reply. @throws PlatformError */
export type StripeClient = ReturnType<typeof makeStripeClient>;

const codePaths = ['error.code', 'error.type'];

/** Makes the client of Stripe's API v1. */
export function makeStripeClient(
  { secretKey }: StripeApi,
  { call, baseUrl = publicUrl }: Omit<MakerSurroundings, 'now'>,
) {
  const headers = {
    authorization: `Bearer ${secretKey}`,
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
    'stripe-version': stripeVersion,
  };
  return async (request: StripeRequest) => {
    const url = `${baseUrl}${request.path}`;
    const text = formText(request.form);
    const reply = await call(
      request.method === 'GET'
        ? { method: 'GET', url: `${url}?${text}`, headers, bodyBytesMax: request.bodyBytesMax }
        : {
            ...{ method: 'POST', url, body: Buffer.from(text) },
            headers: { ...headers, 'idempotency-key': request.idempotencyKey },
          },
    );
    return fieldsOfReply(reply, codePaths);
  };
}

/** Encodes a form as Stripe's SDK does: brackets stay, all other reserved characters are escaped. */
function formText(form: StripeForm): string {
  return form.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&');
}

function encoded(text: string): string {
  return encodeURIComponent(text)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%5B', '[')
    .replaceAll('%5D', ']');
}
