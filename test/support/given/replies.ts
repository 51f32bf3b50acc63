import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Answer } from '../clients/http-app.js';
import { answered } from '../clients/passkey-calls.js';
import { asObject, textOf } from '../clients/service-client.js';

type Reply = Pick<Answer, 'json'>;

/** Returns the status and the code of the body; undefined where the body has none. */
export function codeOf({
  status,
  json,
}: Pick<Answer, 'status' | 'json'>): readonly [number, string | undefined] {
  return [status, (json as { code?: string } | null)?.code];
}

/** Returns a text of the body. */
export function fieldOf({ json }: Reply, name: string): string {
  return textOf(asObject(json), name);
}

/** Returns the items of a list. */
export function itemsOf({ json }: Reply): readonly JsonObject[] {
  return (json as { items: readonly JsonObject[] }).items;
}

/** Returns a token of a sign-in. */
export function tokenOf(reply: Reply, name: 'access_token' | 'refresh_token'): string {
  return textOf(asObject(answered(reply)['tokens']), name);
}
