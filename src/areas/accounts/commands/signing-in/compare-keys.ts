import { sessionCategory, sessionCodec } from '../../domain/session/events.js';
import { userCategory, userCodec } from '../../domain/user/events.js';
import { StoreDamaged } from '../../../../event-sourcing/ports/errors.js';
import type { Position } from '../../../../event-sourcing/ports/domain-event.js';
import type { EventStore, LogPage } from '../../../../event-sourcing/ports/event-store.js';
import type { StateStore } from '../../../../event-sourcing/ports/state-store.js';
import { parseStreamName, streamName } from '../../../../event-sourcing/ports/stream-name.js';
import type { Digests } from '../../../../keys/sealing/digests.js';
import { DoesNotOpen, KeyMissing } from '../../../../keys/sealing/errors.js';
import {
  type CheckedKeys,
  type KeyMismatch,
  unknownMasterKeys,
} from '../../../../keys/rings/key-canaries.js';
import { dataKeyPrefix } from '../../../../keys/sealing/key-scope.js';
import type { RefreshTokens } from '../../../../keys/codes/refresh-tokens.js';
import { erased, type Sealer } from '../../../../keys/sealing/sealer.js';
import { parseEmailAddress } from '../../../../validation/email-address.js';

/**
 * Compares the keys with data that has no canaries: an earlier release made it. It finds only what the data
 * contradicts: a data key or address that does not open, a digest that differs. It looks at a few users.
 * @throws StoreDamaged when the log has users and the state store has no data key: the state is missing
 */
export type CompareKeys = () => Promise<readonly KeyMismatch[]>;

const personPrefix = `${dataKeyPrefix}person/`;
/** Persons that are looked at until the data of one has opened. */
const personsMax = 50;
const pageSize = 500;

export function makeCompareKeys(deps: {
  readonly eventStore: Pick<EventStore, 'read' | 'readAll'>;
  readonly stateStore: Pick<StateStore, 'list'>;
  readonly keys: CheckedKeys;
  readonly sealer: Pick<Sealer, 'open' | 'countByMasterKey'>;
  readonly digests: Pick<Digests, 'email'>;
  readonly refreshTokens: Pick<RefreshTokens, 'issue'>;
}): CompareKeys {
  const { eventStore, stateStore, keys, sealer, digests, refreshTokens } = deps;

  return async () => {
    const [anyDataKey] = await stateStore.list(dataKeyPrefix, { limit: 1 });
    if (anyDataKey === undefined) {
      await refuseUsers();
      return [];
    }
    const unknown = unknownMasterKeys(await sealer.countByMasterKey(), keys);
    return [...(unknown.length > 0 ? unknown : await compareAddresses()), ...(await compareTokens())];
  };

  /** The state store has no data key, so no person can have one either. It reads a log without users once, whole. */
  async function refuseUsers(): Promise<void> {
    let after: Position | null = null;
    for (let atHead = false; !atHead;) {
      const page: LogPage = await eventStore.readAll({ after, limit: pageSize });
      [after, atHead] = [page.cursor, page.atHead];
      if (!page.events.some(({ type }) => type === 'UserRegistered')) continue;
      throw new StoreDamaged(
        'the log has users, and the state store has none of their data keys: the state is missing. Restore log and ' +
          'state (state.db, or the collection state) from one backup. Without the data keys no personal data opens',
      );
    }
  }

  async function compareAddresses(): Promise<readonly KeyMismatch[]> {
    const records = await stateStore.list(personPrefix, { limit: personsMax });
    for (const { key } of records) {
      const userId = decodeURIComponent(key.slice(personPrefix.length));
      const found = await compareAddressOf(userId);
      if (found === 'equal') return [];
      if (found !== 'unknown') return [found];
    }
    return [];
  }

  async function compareAddressOf(userId: string): Promise<'equal' | 'unknown' | KeyMismatch> {
    const [stored] = await eventStore.read(streamName(userCategory, userId), { limit: 1 });
    if (stored?.type !== 'UserRegistered') return 'unknown';
    const { data } = userCodec.decode(stored);
    if (!('email' in data) || !('password_hash' in data)) return 'unknown';
    try {
      const address = await sealer.open({ kind: 'person', userId }, 'email', data.email);
      const parsed = address === erased ? null : parseEmailAddress(address);
      if (parsed === null) return 'unknown';
      if (digests.email(parsed.canonical) === data.email_digest) return 'equal';
      return {
        ring: 'index',
        sentence: 'INDEX_KEY is not the key that the digests of the data were made with',
      };
    } catch (error) {
      const isWrongKey = [DoesNotOpen, KeyMissing, StoreDamaged].some((kind) => error instanceof kind);
      if (!isWrongKey) throw error;
      return {
        ring: 'master',
        sentence: 'MASTER_KEYS does not open the data key of a user: its keys are not those that wrapped it',
      };
    }
  }

  /** Computes first refresh tokens of the log again whose key is in the ring. */
  async function compareTokens(): Promise<readonly KeyMismatch[]> {
    const { events } = await eventStore.readAll({ after: null, limit: pageSize });
    for (const stored of events) {
      const name = parseStreamName(stored.stream);
      if (stored.type !== 'SessionStarted' || name?.category !== sessionCategory) continue;
      const { data } = sessionCodec.decode(stored);
      if (!('user_id' in data) || keys.refresh.find(data.refresh_key_id) === undefined) continue;
      const { digest } = refreshTokens.issue(name.id, data.refresh_key_id);
      if (digest === data.refresh_token_digest) return [];
      const sentence = `REFRESH_KEYS: the key ${data.refresh_key_id} is not the one of this name that the data was made with`;
      return [{ ring: 'refresh', sentence }];
    }
    return [];
  }
}
