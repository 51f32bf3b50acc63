import { makeAuditNameReader } from './audit/names/reader.js';
import { makeAccessReader, makeProjectReader } from './projects/projects/reader.js';
import { makeApiKeyReader } from './projects/api-keys/reader.js';
import { makeInvitationReader } from './projects/invitations/reader.js';
import { makeMemberReader } from './projects/members/reader.js';
import { makeAssetReader } from './assets/assets/reader.js';
import { makeNodeCheckReader } from './nodes/peer-nodes/checks.js';
import { makeNodeReader } from './nodes/peer-nodes/reader.js';
import { makeOrderReader } from './payments/orders/reader.js';
import { makePaymentCallbackReader } from './payments/payment-callbacks/reader.js';
import { makeSessionReader } from './accounts/sessions/reader.js';
import { makeShareAccessReader } from './shares/share-accesses/reader.js';
import { makeShareReader } from './shares/shares/reader.js';
import { makeStorageReader } from './storages/storage-configs/reader.js';
import { makeUsageReader } from './assets/usage/reader.js';
import { makeUserReader } from './accounts/users/reader.js';
import type { Clock } from '../src/kit/time/clock.js';
import type { StateStore } from '../src/event-sourcing/ports/state-store.js';
import type { Views } from '../src/event-sourcing/views/views.js';
import type { Sealer } from '../src/keys/sealing/sealer.js';

export type Readers = ReturnType<typeof makeReaders>;

/** Makes all readers. Projections open no sealed values, readers do. */
export function makeReaders(
  views: Views,
  sealer: Sealer,
  input: { readonly shareUrlTemplate: string; readonly clock: Clock; readonly stateStore: StateStore },
) {
  const { shareUrlTemplate, clock, stateStore } = input;
  const nodeChecks = makeNodeCheckReader({ stateStore, clock });
  const usage = makeUsageReader({ views });
  const users = makeUserReader({ views, sealer, usedBytes: (userId) => usage.usedBytes(userId) });
  return {
    access: makeAccessReader({ views }),
    users,
    auditNames: makeAuditNameReader({ views, sealer, users }),
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
