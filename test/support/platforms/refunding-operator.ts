import type { ExecutionContext } from 'ava';
import { userAggregate } from '../../../src/areas/accounts/domain/user/user.js';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { asObject, textOf } from '../clients/service-client.js';
import { totpCode } from '../fakes/authenticator-app.js';
import { givenContext } from '../given/given-stores.js';
import type { givenPayingService } from './paying-service.js';

const email = 'operator@example.org';
/** Why money goes back. No log may contain it. */
export const refundNote = 'canary: the buyer asked';

/** Makes an operator with a second factor, who asks for refunds of an order over HTTP. */
export async function givenRefunds(
  t: ExecutionContext,
  { client, services }: Awaited<ReturnType<typeof givenPayingService>>,
  orderId: string,
) {
  const { headers, userId } = await client.register(email, 'Correct-Horse-8');
  const email_digest = services.digests.email(email);
  const target = { aggregate: userAggregate, id: userId };
  const contextOf = (n: number) => givenContext(n, new Date(), 'operator');
  await services.handler.handle(target, { type: 'VerifyEmail', email_digest }, contextOf(8_001));
  await services.commands.grantPlatformRole({ email, role: 'operator' }, contextOf(8_002));
  const enrolled = await client.post('/api/v1/auth/2fa/totp', {}, headers);
  const code = totpCode(textOf(asObject(enrolled.json()['data']), 'secret'), new Date());
  const confirmed = await client.post('/api/v1/auth/2fa/totp/confirm', { code }, headers);
  t.is(confirmed.status, 200, confirmed.text);

  /** Asks for a part, or for the rest. @param key the same for a repetition */
  const ask = (key: string, amount?: number) =>
    client.post(
      `/api/v1/orders/${orderId}/refund`,
      { note: refundNote, ...(amount === undefined ? {} : { amount }) },
      { ...headers, 'idempotency-key': key },
    );
  return {
    /** Returns the refund that the platform took on. */
    refund: async (key: string, amount?: number): Promise<JsonObject> => {
      const reply = await ask(key, amount);
      t.is(reply.status, 201, reply.text);
      return reply.json();
    },
    /** Returns status and code of a refund that is not made. */
    refused: async (key: string, amount?: number) => {
      const reply = await ask(key, amount);
      return [reply.status, reply.json()['code']];
    },
  };
}
