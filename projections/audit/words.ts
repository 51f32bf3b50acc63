import { assetEvents } from '../../src/areas/assets/domain/asset/events.js';
import { auditLogEvents } from '../../src/areas/audit/domain/audit-log/events.js';
import { checkoutEvents } from '../../src/areas/payments/domain/checkout/events.js';
import { emailEvents } from '../../src/areas/accounts/domain/email/events.js';
import { loginCodeEvents } from '../../src/areas/accounts/domain/login-code/events.js';
import { nodeEvents } from '../../src/areas/nodes/domain/node/events.js';
import { orderEvents } from '../../src/areas/payments/domain/order/events.js';
import { projectEvents } from '../../src/areas/projects/domain/project/events.js';
import { securityNoticeEvents } from '../../src/areas/accounts/domain/security-notice/events.js';
import { sessionEvents } from '../../src/areas/accounts/domain/session/events.js';
import { shareAccessEvents } from '../../src/areas/shares/domain/share-access/events.js';
import { shareMailEvents } from '../../src/areas/shares/domain/share-mail/events.js';
import { shareEvents } from '../../src/areas/shares/domain/share/events.js';
import { storageEvents } from '../../src/areas/storages/domain/storage/events.js';
import { transactionEvents } from '../../src/areas/payments/domain/transaction/events.js';
import { userEvents } from '../../src/areas/accounts/domain/user/events.js';
import {
  type DomainEvent,
  type StoredEvent,
  parseStreamName,
} from '../../src/event-sourcing/ports/domain-event.js';
import { UndecodableEvent } from '../../src/event-sourcing/ports/errors.js';
import type { AggregateEvents } from '../../src/event-sourcing/ports/events.js';

/** The events of all aggregates, by area. */
export const eventsByArea = {
  accounts: [userEvents, emailEvents, sessionEvents, loginCodeEvents, securityNoticeEvents],
  projects: [projectEvents],
  storages: [storageEvents],
  payments: [orderEvents, checkoutEvents, transactionEvents],
  assets: [assetEvents],
  shares: [shareEvents, shareAccessEvents, shareMailEvents],
  nodes: [nodeEvents],
  audit: [auditLogEvents],
} satisfies Readonly<Record<string, readonly AggregateEvents<DomainEvent>[]>>;

/** The events of all aggregates. */
export const everyAggregate: readonly AggregateEvents<DomainEvent>[] = Object.values(eventsByArea).flat();

const byCategory = new Map(everyAggregate.map((events) => [events.category, events]));

/**
 * Returns in plain words who did what: one English sentence. It shows what the event holds in clear, and names sealed
 * values as sealed. An event that this version cannot decode gets a sentence that says so.
 */
export function wordsOf(event: StoredEvent): string {
  return `${actorInWords(event.metadata.actor)} ${didWhat(event)}.`;
}

function didWhat(event: StoredEvent): string {
  const { category = '', id = '' } = parseStreamName(event.stream) ?? {};
  const unknown = `appended an event ${event.type} to stream ${event.stream}, for which this version has no words`;
  try {
    return byCategory.get(category)?.did(event, id) ?? unknown;
  } catch (error) {
    // A former or later version wrote the event. The raw event stands beside the sentence.
    if (error instanceof UndecodableEvent) return unknown;
    throw error;
  }
}

/** Returns the actor of an event as the beginning of a sentence. @param actor see `EventMetadata.actor` */
export function actorInWords(actor: unknown): string {
  const [, kind, id] = /^(user|key|system):(.+)$/.exec(typeof actor === 'string' ? actor : '') ?? [];
  if (kind === 'user') return `User ${id}`;
  if (kind === 'key') return `API key ${id}`;
  if (kind === 'system') return `The service (${id})`;
  if (actor === 'operator') return 'The operator of the installation';
  if (actor === 'agent') return 'An edge agent';
  return actor === 'anonymous' ? 'A caller without sign-in' : 'An unknown actor';
}
