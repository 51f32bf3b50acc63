import { setTimeout as wait } from 'node:timers/promises';
import { pick as pickFrom } from '../support/fakes/clock.js';
import type { Random } from '../../src/kit/time/clock.js';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { asObject, type ServiceClient, type SignedIn, textOf } from '../support/clients/service-client.js';
import { untilAnswered } from '../support/servers/service-ledger.js';
import type { Platform } from './payment-senders.js';
import { drawStory, type Story, type StoryOrder } from './payment-stories.js';

const signInTriesMax = 20;

/** An order, its buyer and its story. */
export interface Bought extends StoryOrder {
  readonly userId: string;
  readonly projectId: string | null;
  readonly headers: SignedIn['headers'];
  readonly story: Story;
}

const buyers = 8;
const addressOf = (buyer: number): string => `buyer-${buyer}@example.org`;
const password = 'Correct-Horse-7';
const projectsOfBuyer = 4;
/** The capacity of a registration, and of the built-in plan. */
const registrationBytes = 1_073_741_824;
const planBytes = 107_374_182_400;

/** Registers users, creates their projects and places orders for both on drawn platforms. */
export async function placeOrders(
  client: ServiceClient,
  {
    count,
    platforms,
    random,
  }: { readonly count: number; readonly platforms: readonly Platform[]; readonly random: Random },
): Promise<readonly Bought[]> {
  const pick = <Item>(items: readonly Item[]): Item => pickFrom(random, items);
  const people = [];
  // Users register one after the other, because a busy service refuses hashes that would wait too long.
  for (let index = 0; index < buyers; index += 1) {
    const buyer = await client.register(addressOf(index), password);
    const projects: string[] = [];
    for (let n = 0; n < projectsOfBuyer; n += 1) {
      const made = await untilAnswered(() =>
        client.post('/api/v1/projects', { name: `P${n}` }, buyer.headers),
      );
      projects.push(textOf(made.json(), 'id'));
    }
    people.push({ ...buyer, projects });
  }
  const bought: Bought[] = [];
  for (let n = 0; n < count; n += 1) {
    const { userId, headers, projects } = people[n % buyers] ?? pick(people);
    const platform = pick(platforms);
    const projectId = random() < 0.5 ? pick(projects) : null;
    const plan =
      projectId === null ? { plan_id: 'capacity-100g' } : { plan_id: 'project-s3', project_id: projectId };
    const reply = await untilAnswered(() =>
      client.post('/api/v1/orders', { ...plan, provider: platform.name }, headers),
    );
    if (reply.status !== 201) throw new Error(`placing an order was answered ${reply.status}: ${reply.text}`);
    const placed = reply.json();
    const order = {
      id: textOf(placed, 'id'),
      number: textOf(placed, 'number'),
      amount: Number(placed['amount']),
      currency: textOf(placed, 'currency'),
    };
    const other = pick(platforms.filter(({ name }) => name !== platform.name && name !== 'stripe'));
    bought.push({
      ...order,
      userId,
      projectId,
      headers,
      story: drawStory(order, { platform, other, random }),
    });
  }
  return bought;
}

/** Returns the orders with new access tokens. The first tokens last ten minutes, and a slow machine takes longer. */
export async function signInAgain(
  client: ServiceClient,
  orders: readonly Bought[],
): Promise<readonly Bought[]> {
  const headersOf = new Map<string, SignedIn['headers']>();
  for (let index = 0; index < buyers; index += 1) {
    const { userId, headers } = await signIn(client, addressOf(index));
    headersOf.set(userId, headers);
  }
  return orders.map((order) => ({ ...order, headers: headersOf.get(order.userId) ?? order.headers }));
}

/** Signs in. A service that has just started again may refuse for some seconds. */
async function signIn(client: ServiceClient, email: string): Promise<SignedIn> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await client.login(email, password);
    } catch (error) {
      if (tries === signInTriesMax) throw error;
      await wait(500);
    }
  }
}

/** Returns the orders that do not end as their stories do, as sentences. */
export async function findOrderProblems(
  client: ServiceClient,
  orders: readonly Bought[],
): Promise<readonly string[]> {
  const found = await Promise.all(
    orders.map(async ({ id, headers, story: { end } }) => {
      const order = await read(client, `/api/v1/orders/${id}`, headers);
      const shown = { status: order['status'], refunded: order['refunded_amount'] };
      const isSo = shown.status === end.status && shown.refunded === end.refunded;
      return isSo ? [] : [`the order ${id} is ${JSON.stringify(shown)} and not ${JSON.stringify(end)}`];
    }),
  );
  return found.flat();
}

/** Returns the users and projects that lack the sum of the grants of their orders, as sentences. */
export async function findGrantProblems(
  client: ServiceClient,
  orders: readonly Bought[],
): Promise<readonly string[]> {
  const people = new Map(orders.map(({ userId, headers }) => [userId, headers]));
  const projects = new Map(
    orders.flatMap(({ projectId, headers }) => (projectId === null ? [] : [[projectId, headers]])),
  );
  const granted = orders.filter(({ story }) => story.end.isGranted);
  const problems: string[] = [];
  for (const [userId, headers] of people) {
    const { capacity_bytes: bytes } = asObject((await read(client, '/api/v1/auth/me', headers))['data']);
    const bought = granted.filter((order) => order.userId === userId && order.projectId === null).length;
    if (bytes !== registrationBytes + bought * planBytes)
      problems.push(`${userId} has ${JSON.stringify(bytes)} bytes, not ${bought} plans`);
  }
  for (const [projectId, headers] of projects) {
    const { entitlements } = await read(client, `/api/v1/projects/${projectId}`, headers);
    const isEntitled = granted.some((order) => order.projectId === projectId);
    if (asObject(entitlements)['allow_s3'] !== isEntitled)
      problems.push(`${projectId} is not entitled: ${isEntitled}`);
  }
  return problems;
}

async function read(client: ServiceClient, path: string, headers: SignedIn['headers']): Promise<JsonObject> {
  const reply = await untilAnswered(() => client.get(path, headers));
  if (reply.status !== 200) throw new Error(`${path} was answered ${reply.status}: ${reply.text}`);
  return reply.json();
}
