import { randomUUID } from 'node:crypto';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import type { ProjectEvent } from '../../../../src/areas/projects/domain/project/events.js';
import { type Role, scopes } from '../../../../src/areas/projects/domain/role.js';
import { sessionAggregate } from '../../../../src/areas/accounts/domain/session/session.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import type { UserEvent } from '../../../../src/areas/accounts/domain/user/events.js';
import { derivedId } from '../../../../src/event-sourcing/deciding/command-handler.js';
import { makeApiKey } from '../../../../src/security/tokens/api-keys.js';
import { appendEvents } from '../../given/append-events.js';
import { digest } from '../../examples/ids.js';
import type { ServiceInProcess } from '../../servers/service-in-process.js';
import type { Header } from './heads.js';
import type { Shape, Dice } from './shapes-and-dice.js';
import { z } from 'zod';
import {
  notificationName,
  orderNumber,
  reportKeyOf,
  reportName,
  transactionStreamId,
} from '../../../../src/areas/payments/domain/payment.js';
import { orderAggregate } from '../../../../src/areas/payments/domain/order/order.js';
import type { CommandContext } from '../../../../src/event-sourcing/ports/command-context.js';

/** A caller: its weight beside the others, its credentials, and the ids and words that it has received. */
export interface FuzzCaller {
  readonly name: string;
  readonly weight: number;
  readonly credentials: readonly Header[];
  readonly ids: KnownIds;
  readonly words: KnownWords;
}

export const agentSecret = 'fuzz-agent-secret';
const password = 'Correct-Horse-7-Battery';

/** Makes callers of all kinds around one project, for one lane. Their requests affect only each other. */
export async function makeCallers(
  service: ServiceInProcess,
  randomBytes: (size: number) => Buffer,
): Promise<readonly FuzzCaller[]> {
  const { handler, commands, accessTokens, clock } = service.services;
  const context = () => {
    const commandId = randomUUID();
    const ids = { commandId, causationId: commandId, correlationId: commandId };
    return { ...ids, actor: 'anonymous', time: clock.now() };
  };
  const signUp = async (...events: readonly UserEvent[]) => {
    const email = `${randomUUID()}@example.com`;
    const input = { email, password, client: null, userAgent: null };
    const { user, tokens } = await commands.register(input, context());
    const at = { aggregate: userAggregate, id: user.id };
    if (events.length > 0) await appendEvents(handler, at, events, clock.now());
    const credentials: readonly Header[] = [['authorization', `Bearer ${tokens.access_token}`]];
    return { userId: user.id, email, token: tokens.access_token, credentials };
  };

  /** Turns the second factor on for a user, whose session has passed it then. */
  const passTwoFactor = async ({ userId, token }: { readonly userId: string; readonly token: string }) => {
    const enrolment = context();
    await commands.enrolTotp({ userId }, enrolment);
    const enrolment_id = derivedId(enrolment, 'totp-enrolment');
    await appendEvents(
      handler,
      { aggregate: userAggregate, id: userId },
      [
        { type: 'TotpConfirmed', data: { enrolment_id, step: 1 } },
        { type: 'RecoveryCodesIssued', data: { digests: [digest] } },
      ],
      clock.now(),
    );
    const verdict = await accessTokens.verify(token);
    if (!verdict.valid) throw new Error(verdict.code);
    await appendEvents(
      handler,
      { aggregate: sessionAggregate, id: verdict.claims.sessionId },
      [{ type: 'SessionStrengthened', data: { method: 'otp', refresh: null } }],
      clock.now(),
    );
  };

  const owner = await signUp();
  const viewer = await signUp();
  const admin = await signUp();
  const twoFactor = await signUp();
  const platform = await signUp(
    { type: 'PlatformRoleGranted', data: { role: 'operator' } },
    { type: 'PlatformRoleGranted', data: { role: 'auditor' } },
  );
  // Operators who settle payments need a second factor.
  for (const person of [twoFactor, platform]) await passTwoFactor(person);

  const { resource: project } = await commands.createProject(
    { ownerId: owner.userId, name: 'Fuzz' },
    context(),
  );
  const key = makeApiKey(randomBytes);
  const nextMonth = new Date(clock.now().getTime() + 30 * 86_400_000).toISOString();
  const member = (userId: string, role: Role): ProjectEvent => ({
    type: 'MemberAdded',
    data: { user_id: userId, role, invitation_id: null },
  });
  await appendEvents(
    handler,
    { aggregate: projectAggregate, id: project.id },
    [
      { type: 'EntitlementGranted', data: { entitlement: 'allow_s3', source: 'operator' } },
      member(viewer.userId, 'viewer'),
      member(admin.userId, 'admin'),
      member(twoFactor.userId, 'owner'),
      {
        type: 'ApiKeyIssued',
        data: {
          ...{ key_id: randomUUID(), name: 'fuzz', digest: key.digest, prefix: key.prefix },
          ...{
            last_four: key.last_four,
            scopes: [...scopes],
            expires_at: nextMonth,
            issued_by: owner.userId,
          },
        },
      },
    ],
    clock.now(),
  );

  const payments = await makeWaitingPayments(service, owner.userId, context);

  const caller = (name: string, weight: number, credentials: readonly Header[]): FuzzCaller => {
    const ids = makeKnownIds();
    ids.learn('/api/v1/projects', {}, { id: project.id });
    const words = makeKnownWords();
    words.learn({ email: owner.email, password, current_password: password, order_id: payments.orderId });
    ids.learn('/api/v1/admin/payments', {}, { items: payments.ids.map((id) => ({ id })) });
    return { name, weight, credentials, ids, words };
  };
  return [
    caller('owner', 6, owner.credentials),
    caller('owner with two factors', 3, twoFactor.credentials),
    caller('admin', 3, admin.credentials),
    caller('viewer', 2, viewer.credentials),
    caller('operator and auditor', 2, platform.credentials),
    caller('API key', 2, [['x-api-key', key.key]]),
    caller('agent', 1, [['x-agent-secret', agentSecret]]),
    caller('anonymous', 3, []),
  ];
}

/**
 * Texts that a caller has received, by the name of their field: addresses, tokens, names. Fields of that name may get
 * them again.
 */
interface KnownWords {
  /** Returns the shape with the known texts in its text fields. */
  inform(shape: Shape): Shape;
  learn(body: unknown): void;
}

/** The number of the newest texts that are kept of each field. */
const mostOfAField = 5;

function makeKnownWords(): KnownWords {
  const byField = new Map<string, readonly string[]>();
  return { inform, learn };

  function inform(shape: Shape): Shape {
    const { properties, anyOf, oneOf } = shape;
    return {
      ...shape,
      anyOf: anyOf?.map(inform),
      oneOf: oneOf?.map(inform),
      properties: properties && Object.fromEntries(Object.entries(properties).map(informed)),
    };
  }

  function informed([name, shape]: [string, Shape]): [string, Shape] {
    const known = shape.type === 'string' ? byField.get(name) : undefined;
    return [name, known === undefined ? inform(shape) : { ...shape, known }];
  }

  function learn(body: unknown): void {
    if (typeof body !== 'object' || body === null) return;
    for (const [name, value] of Object.entries(body)) {
      if (typeof value === 'string') {
        byField.set(name, [...(byField.get(name) ?? []), value].slice(-mostOfAField));
      } else learn(value);
    }
  }
}

export type PathIds = Readonly<Record<string, string>>;

/** Ids that a caller has received, each with the ids that precede it in its path. */
export interface KnownIds {
  /** Returns parameters of a pattern that lead to known resources, if any are known. */
  idsFor(pattern: string, dice: Dice): PathIds;
  /** Takes the ids out of a success reply. @param params the parameters of the requested path */
  learn(pattern: string, params: PathIds, body: unknown): void;
}

const identified = z.object({ id: z.string() });
const idsIn = z.union([
  z.object({ items: z.array(identified) }).transform(({ items }) => items),
  z.object({ data: z.object({ items: z.array(identified) }) }).transform(({ data }) => data.items),
  identified.transform((one) => [one]),
]);

interface Known {
  readonly params: PathIds;
  readonly id: string;
}

/** The number of the newest ids that are kept of each kind. */
const mostOfAKind = 12;

function makeKnownIds(): KnownIds {
  /** The ids by the path of their collection: `/projects/:projectId/storages`. */
  const byCollection = new Map<string, readonly Known[]>();
  return {
    idsFor: (pattern, dice) => {
      for (const { index, 1: name = '' } of [...pattern.matchAll(/\/:(\w+)/g)].reverse()) {
        const known = byCollection.get(pattern.slice(0, index)) ?? [];
        if (known.length === 0) continue;
        const { params, id } = dice.pick(known);
        return { ...params, [name]: id };
      }
      return {};
    },
    learn: (pattern, params, body) => {
      const found = idsIn.safeParse(body);
      if (!found.success) return;
      // A reply about one resource comes from its path or from the path of its collection.
      const collection = pattern.replace(/\/:\w+$/, '');
      const known = found.data.map(({ id }) => ({ params, id }));
      byCollection.set(collection, [...(byCollection.get(collection) ?? []), ...known].slice(-mostOfAKind));
    },
  };
}

/** Makes an order, and payments that wait for an operator: some without an order, some that differ from the order. */
async function makeWaitingPayments(
  { services }: Pick<ServiceInProcess, 'services'>,
  userId: string,
  context: () => CommandContext,
): Promise<{ readonly orderId: string; readonly ids: readonly string[] }> {
  const { handler, commands, clock } = services;
  const placing = context();
  const orderId = derivedId(placing, 'order');
  await handler.handle(
    { aggregate: orderAggregate, id: orderId },
    {
      ...({
        type: 'Place',
        user_id: userId,
        project_id: null,
        plan_id: 'capacity-100g',
        provider: 'standard',
      } as const),
      ...{ grant: { capacity_bytes: 5 }, amount: 999, currency: 'USD' },
      expires_at: new Date(clock.now().getTime() + 86_400_000).toISOString(),
    },
    placing,
  );
  const notification = (number: string | null, amount: number) => ({
    ...{ order_number: number, transaction_id: randomUUID(), at: null },
    fact: { kind: 'paid', amount, currency: 'USD' } as const,
  });
  const ids: string[] = [];
  for (let n = 0; n < 6; n += 1) {
    const isHeld = n % 2 === 0;
    const told = isHeld ? notification(null, 999) : notification(orderNumber(orderId), n);
    const transaction = transactionStreamId('standard', told.transaction_id);
    const report = {
      ...{ key: reportKeyOf('standard', randomUUID()), digest, is_ours: true, notifications: [told] },
      ...{ order_id: null, received_at: clock.now().toISOString() },
    };
    const reported = await commands.paymentReports.report('standard', report, context());
    await reported.apply(context());
    const id = reportName(transaction, 0);
    ids.push(isHeld ? id : notificationName(id, 0));
  }
  return { orderId, ids };
}
