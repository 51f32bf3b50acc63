import { assetCategory, assetCodec } from '../../../src/areas/assets/domain/asset/events.js';
import { auditLogCategory, auditLogCodec } from '../../../src/areas/audit/domain/audit-log/events.js';
import { checkoutCategory, checkoutCodec } from '../../../src/areas/payments/domain/checkout/events.js';
import { emailCategory, emailCodec } from '../../../src/areas/accounts/domain/email/events.js';
import { loginCodeCategory, loginCodeCodec } from '../../../src/areas/accounts/domain/login-code/events.js';
import { nodeCategory, nodeCodec } from '../../../src/areas/nodes/domain/node/events.js';
import { orderCategory, orderCodec } from '../../../src/areas/payments/domain/order/events.js';
import { projectCategory, projectCodec } from '../../../src/areas/projects/domain/project/events.js';
import {
  securityNoticeCategory,
  securityNoticeCodec,
} from '../../../src/areas/accounts/domain/security-notice/events.js';
import { sessionCategory, sessionCodec } from '../../../src/areas/accounts/domain/session/events.js';
import {
  shareAccessCategory,
  shareAccessCodec,
} from '../../../src/areas/shares/domain/share-access/events.js';
import { shareMailCategory, shareMailCodec } from '../../../src/areas/shares/domain/share-mail/events.js';
import { shareCategory, shareCodec } from '../../../src/areas/shares/domain/share/events.js';
import { storageCategory, storageCodec } from '../../../src/areas/storages/domain/storage/events.js';
import {
  transactionCategory,
  transactionCodec,
} from '../../../src/areas/payments/domain/transaction/events.js';
import { userCategory, userCodec } from '../../../src/areas/accounts/domain/user/events.js';
import type { DomainEvent, StoredEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import { UndecodableEvent } from '../../../src/event-sourcing/ports/errors.js';
import type { EventCodec } from '../../../src/event-sourcing/ports/event-codec.js';
import { parseStreamName } from '../../../src/event-sourcing/ports/stream-name.js';
import type { Phrases } from './phrases.js';
import { auditLogWords } from './words-of-audit.js';
import { nodeWords } from './words-of-nodes.js';
import { checkoutWords, orderWords, transactionWords } from './words-of-payments.js';
import { projectWords } from './words-of-projects.js';
import { shareAccessWords, shareMailWords, shareWords } from './words-of-shares.js';
import { emailWords, loginCodeWords, securityNoticeWords, sessionWords } from './words-of-sign-in.js';
import { assetWords, storageWords } from './words-of-storages.js';
import { userWords } from './words-of-users.js';

/** The words of the events of one stream category. `codec` is there for the test of completeness. */
interface CategoryWords {
  readonly category: string;
  readonly codec: EventCodec<DomainEvent>;
  readonly did: (event: StoredEvent, id: string) => string;
}

/** All stream categories. */
export const categoryWords: readonly CategoryWords[] = [
  entry(userCategory, userCodec, userWords),
  entry(emailCategory, emailCodec, emailWords),
  entry(sessionCategory, sessionCodec, sessionWords),
  entry(loginCodeCategory, loginCodeCodec, loginCodeWords),
  entry(securityNoticeCategory, securityNoticeCodec, securityNoticeWords),
  entry(projectCategory, projectCodec, projectWords),
  entry(storageCategory, storageCodec, storageWords),
  entry(assetCategory, assetCodec, assetWords),
  entry(shareCategory, shareCodec, shareWords),
  entry(shareAccessCategory, shareAccessCodec, shareAccessWords),
  entry(shareMailCategory, shareMailCodec, shareMailWords),
  entry(orderCategory, orderCodec, orderWords),
  entry(checkoutCategory, checkoutCodec, checkoutWords),
  entry(transactionCategory, transactionCodec, transactionWords),
  entry(nodeCategory, nodeCodec, nodeWords),
  entry(auditLogCategory, auditLogCodec, auditLogWords),
];

const byCategory = new Map(categoryWords.map((words) => [words.category, words]));

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

function entry<Event extends DomainEvent>(
  category: string,
  codec: EventCodec<Event>,
  phrases: Phrases<Event>,
): CategoryWords {
  // The compiler checks that each type has its words. It cannot follow that the decoded event has the type of its key.
  const words = phrases as Readonly<Record<string, (data: unknown, id: string) => string>>;
  return {
    category,
    codec,
    did: (stored, id) => {
      const { type, data } = codec.decode(stored);
      const did = words[type];
      if (did === undefined) throw new UndecodableEvent(`the event type ${type} has no words`);
      return did(data, id);
    },
  };
}
