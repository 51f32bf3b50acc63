import type { ShareDeps } from '../deps.js';
import {
  type LogEvent,
  type Position,
  type Sealed,
  parseStreamName,
} from '../../../event-sourcing/ports/domain-event.js';
import type { EventStore, LogPage } from '../../../event-sourcing/ports/event-store.js';
import { shareAggregate } from '../domain/share/share.js';
import { shareCodec } from '../domain/share/events.js';
import { userAggregate } from '../../accounts/domain/user/user.js';
import { userCodec } from '../../accounts/domain/user/events.js';
import type { PepperedPasswords } from '../../../keys/rings/keyring.js';
import { erased, type LastingScope } from '../../../keys/sealing/sealer.js';
import { parsePasswordHash } from '../../../security/passwords/scrypt.js';

/**
 * Counts the users and shares whose current password is hashed with a pepper. No view contains the sealed hashes, so it
 * reads the whole log: about a minute for some millions of events. The count does not depend on the views.
 * @param pepper the key id of a pepper that makes no new hashes
 * @throws StoreUnavailable; the errors of `Sealer.open`
 */
export type CountPasswords = ReturnType<typeof makeCountPasswords>;

const pageSize = 500;
/** Hashes that it opens concurrently. */
const opensAtOnce = 20;
const someSharesMax = 5;

/** The current password of a user or a share. */
interface CurrentPassword {
  readonly scope: Extract<LastingScope, { kind: 'person' | 'share' }>;
  readonly hash: Sealed;
}

export function makeCountPasswords(
  deps: Pick<ShareDeps, 'handler' | 'sealer'> & { readonly eventStore: Pick<EventStore, 'readAll'> },
) {
  const { eventStore, handler, sealer } = deps;
  return async (pepper: string) => {
    let users = 0;
    const shares: PepperedPasswords['someShares'][number][] = [];
    let after: Position | null = null;
    for (let atHead = false; !atHead;) {
      const page: LogPage = await eventStore.readAll({ after, limit: pageSize });
      [after, atHead] = [page.cursor, page.atHead];
      // Each event that sets a password has its hash in this field, and no other event has the field.
      const events = page.events.filter(({ data }) => 'password_hash' in data);
      for (let first = 0; first < events.length; first += opensAtOnce) {
        await Promise.all(events.slice(first, first + opensAtOnce).map(count));
      }
    }
    return { users, shares: shares.length, someShares: shares.slice(0, someSharesMax) };

    async function count(event: LogEvent): Promise<void> {
      const password = await currentPasswordOf(event);
      if (password === null || (await pepperOf(password)) !== pepper) return;
      const { scope } = password;
      if (scope.kind === 'person') users += 1;
      else shares.push({ shareId: scope.shareId, projectId: scope.projectId });
    }
  };

  /** Returns the password that the event set; null where it is no longer the current one. */
  async function currentPasswordOf(stored: LogEvent): Promise<CurrentPassword | null> {
    const { category, id } = parseStreamName(stored.stream) ?? { category: '', id: '' };
    const isUser = category === userAggregate.category;
    const { data } = isUser ? userCodec.decode(stored) : shareCodec.decode(stored);
    const { state } = isUser ? await handler.load(userAggregate, id) : await handler.load(shareAggregate, id);
    const hash = 'password_hash' in state ? state.password_hash : null;
    if (hash === null || !('password_hash' in data) || hash !== data.password_hash) return null;
    const projectId = 'project_id' in state ? state.project_id : '';
    return {
      scope: isUser ? { kind: 'person', userId: id } : { kind: 'share', projectId, shareId: id },
      hash,
    };
  }

  /** Returns the key id of the pepper; null where the key of the hash is destroyed. */
  async function pepperOf({ scope, hash }: CurrentPassword): Promise<string | null> {
    const text = await sealer.open(scope, 'password_hash', hash);
    return text === erased ? null : (parsePasswordHash(text)?.pepper ?? null);
  }
}
