import type { CommandHandler } from '../event-sourcing/command-handler.js';
import type { LogEvent, Position } from '../event-sourcing/domain-event.js';
import type { EventStore, LogPage } from '../event-sourcing/event-store.js';
import { parseStreamName } from '../event-sourcing/decider.js';
import type { Sealed } from '../event-sourcing/sealed.js';
import { shareAggregate } from '../domain/share/share.js';
import { shareCodec } from '../domain/share/events.js';
import { userAggregate } from '../domain/user/user.js';
import { userCodec } from '../domain/user/events.js';
import type { PepperedPasswords } from '../keys/needed-pepper.js';
import { erased, type LastingScope, type Sealer } from '../keys/sealer.js';
import { parsePasswordHash } from '../security/password-hash.js';

/**
 * Counts the users and shares whose present password is hashed with a pepper. Hashes are sealed in the log and stand in no
 * view, so the whole log is read: exact however far the views are, and about a minute for some millions of events.
 * @param pepper key id of one that hashes nothing any more
 * @throws StoreUnavailable; what `Sealer.open` throws
 */
export type CountPasswords = (pepper: string) => Promise<PepperedPasswords>;

const pageSize = 500;
/** Hashes that are opened at once. */
const opensAtOnce = 20;
const someSharesMax = 5;

type Scope = Extract<LastingScope, { kind: 'person' | 'share' }>;

/** A password as somebody has it at present. */
interface PresentPassword {
  readonly scope: Scope;
  readonly hash: Sealed;
}

export function makeCountPasswords({
  eventStore,
  handler,
  sealer,
}: {
  readonly eventStore: Pick<EventStore, 'readAll'>;
  readonly handler: Pick<CommandHandler, 'load'>;
  readonly sealer: Pick<Sealer, 'open'>;
}): CountPasswords {
  return async (pepper) => {
    let users = 0;
    const shares: PepperedPasswords['someShares'][number][] = [];
    let after: Position | null = null;
    for (let atHead = false; !atHead;) {
      const page: LogPage = await eventStore.readAll({ after, limit: pageSize });
      [after, atHead] = [page.cursor, page.atHead];
      const events = page.events.filter(({ type }) => setsPassword.has(type));
      for (let first = 0; first < events.length; first += opensAtOnce) {
        await Promise.all(events.slice(first, first + opensAtOnce).map(count));
      }
    }
    return { users, shares: shares.length, someShares: shares.slice(0, someSharesMax) };

    async function count(event: LogEvent): Promise<void> {
      const password = await presentPasswordOf(event);
      if (password === null || (await pepperOf(password)) !== pepper) return;
      const { scope } = password;
      if (scope.kind === 'person') users += 1;
      else shares.push({ shareId: scope.shareId, projectId: scope.projectId });
    }
  };

  /** The password that the event has set; null where another one has replaced it, or nobody has it any more. */
  async function presentPasswordOf(stored: LogEvent): Promise<PresentPassword | null> {
    const { category, id } = parseStreamName(stored.stream) ?? { category: '', id: '' };
    if (category === userAggregate.category) {
      const { data } = userCodec.decode(stored);
      const { state } = await handler.load(userAggregate, id);
      const isPresent =
        'password_hash' in data && state.status === 'registered' && state.passwordHash === data.password_hash;
      return isPresent ? { scope: { kind: 'person', userId: id }, hash: data.password_hash } : null;
    }
    const { data } = shareCodec.decode(stored);
    const { state } = await handler.load(shareAggregate, id);
    const isPresent =
      'password_hash' in data && state.status === 'open' && state.passwordHash === data.password_hash;
    if (!isPresent) return null;
    return { scope: { kind: 'share', projectId: state.projectId, shareId: id }, hash: data.password_hash };
  }

  /** The key id; null where the hash does not open any more. */
  async function pepperOf({ scope, hash }: PresentPassword): Promise<string | null> {
    const text = await sealer.open(scope, 'password_hash', hash);
    return text === erased ? null : (parsePasswordHash(text)?.pepper ?? null);
  }
}

/** The events of users and shares that do. */
const setsPassword: ReadonlySet<string> = new Set([
  'UserRegistered',
  'PasswordChanged',
  'PasswordRehashed',
  'ShareCreated',
  'SharePasswordChanged',
]);
