import { makeApiKeyReader } from '../../projections/api-keys/reader.js';
import { makeMemberReader } from '../../projections/members/reader.js';
import { makeAssetReader } from '../../projections/assets/reader.js';
import { makeNodeReader } from '../../projections/peer-nodes/reader.js';
import { makeOrderReader } from '../../projections/orders/reader.js';
import { makePaymentCallbackReader } from '../../projections/payment-callbacks/reader.js';
import { makeProjectReader } from '../../projections/projects/reader.js';
import { makeSessionReader } from '../../projections/sessions/reader.js';
import { makeShareAccessReader } from '../../projections/share-accesses/reader.js';
import { makeShareReader } from '../../projections/shares/reader.js';
import { makeStorageReader } from '../../projections/storage-configs/reader.js';
import { makeUsageReader } from '../../projections/usage/reader.js';
import { makeUserReader } from '../../projections/users/reader.js';
import type { Config } from '../config.js';
import type { Views } from '../event-sourcing/views.js';
import type { Sealer } from '../keys/sealer.js';

/** Every reader, over all views. */
export type Readers = ReturnType<typeof makeReaders>;

/** Puts the readers together. Sealed values are opened here and nowhere nearer to the log. */
export function makeReaders(
  views: Views,
  sealer: Sealer,
  { shareUrlTemplate }: Pick<Config, 'shareUrlTemplate'>,
) {
  const users = makeUserReader({ views, sealer });
  return {
    users,
    sessions: makeSessionReader({ views, sealer }),
    projects: makeProjectReader({ views }),
    members: makeMemberReader({ views, sealer, users }),
    apiKeys: makeApiKeyReader({ views }),
    storages: makeStorageReader({ views }),
    assets: makeAssetReader({ views }),
    usage: makeUsageReader({ views }),
    shares: makeShareReader({ views, sealer, urlTemplate: shareUrlTemplate }),
    shareAccesses: makeShareAccessReader({ views }),
    nodes: makeNodeReader({ views }),
    orders: makeOrderReader({ views, sealer }),
    paymentCallbacks: makePaymentCallbackReader({ views, sealer }),
  };
}
