import { makeAccessReader } from './access/reader.js';
import { makeApiKeyReader } from './api-keys/reader.js';
import { makeInvitationReader } from './invitations/reader.js';
import { makeMemberReader } from './members/reader.js';
import { makeAssetReader } from './assets/reader.js';
import { makeNodeCheckReader } from './peer-nodes/checks.js';
import { makeNodeReader } from './peer-nodes/reader.js';
import { makeOrderReader } from './orders/reader.js';
import { makePaymentCallbackReader } from './payment-callbacks/reader.js';
import { makeProjectReader } from './projects/reader.js';
import { makeSessionReader } from './sessions/reader.js';
import { makeShareAccessReader } from './share-accesses/reader.js';
import { makeShareReader } from './shares/reader.js';
import { makeStorageReader } from './storage-configs/reader.js';
import { makeUsageReader } from './usage/reader.js';
import { makeUserReader } from './users/reader.js';
import type { Clock } from '../src/event-sourcing/ports/clock.js';
import type { StateStore } from '../src/event-sourcing/ports/state-store.js';
import type { Views } from '../src/event-sourcing/views/views.js';
import type { Sealer } from '../src/keys/sealer.js';

export type Readers = ReturnType<typeof makeReaders>;

/** Makes all readers. Projections open no sealed values, readers do. */
export function makeReaders(
  views: Views,
  sealer: Sealer,
  {
    shareUrlTemplate,
    clock,
    stateStore,
  }: { readonly shareUrlTemplate: string; readonly clock: Clock; readonly stateStore: StateStore },
) {
  const nodeChecks = makeNodeCheckReader({ stateStore, clock });
  const usage = makeUsageReader({ views, clock });
  const users = makeUserReader({ views, sealer, clock });
  return {
    access: makeAccessReader({ views }),
    users,
    sessions: makeSessionReader({ views, sealer }),
    projects: makeProjectReader({ views, usage }),
    members: makeMemberReader({ views, sealer, users }),
    invitations: makeInvitationReader({ views, users }),
    apiKeys: makeApiKeyReader(),
    storages: makeStorageReader({ views }),
    assets: makeAssetReader({ views }),
    usage,
    shares: makeShareReader({ views, sealer, urlTemplate: shareUrlTemplate }),
    shareAccesses: makeShareAccessReader({ views }),
    nodeChecks,
    nodes: makeNodeReader({ views, nodeChecks }),
    orders: makeOrderReader({ views, sealer }),
    paymentCallbacks: makePaymentCallbackReader({ views, sealer }),
  };
}
