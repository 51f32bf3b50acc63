import type { Projection, AnyView } from '../src/event-sourcing/views/projection.js';
import { assetsProjection } from './assets/assets/projection.js';
import { ordersProjection } from './payments/orders/projection.js';
import { peerNodesProjection } from './nodes/peer-nodes/projection.js';
import { projectsProjection } from './projects/projects/projection.js';
import { sessionsProjection } from './accounts/sessions/projection.js';
import {
  shareAccessesProjection,
  shareDownloadsTally,
  shareViewsTally,
} from './shares/share-accesses/projection.js';
import { sharesProjection } from './shares/shares/projection.js';
import { storageConfigsProjection } from './storages/storage-configs/projection.js';
import { transactionsProjection } from './payments/transactions/projection.js';
import { usageTally } from './assets/usage/projection.js';
import { usersProjection } from './accounts/users/projection.js';

/** The views whose documents fold one stream each. */
export const projections: readonly Projection[] = [
  usersProjection,
  sessionsProjection,
  projectsProjection,
  storageConfigsProjection,
  assetsProjection,
  sharesProjection,
  shareAccessesProjection,
  peerNodesProjection,
  ordersProjection,
  transactionsProjection,
];

/** All views: also those whose documents are totals over many streams. */
export const allViews: readonly AnyView[] = [
  ...projections,
  usageTally,
  shareViewsTally,
  shareDownloadsTally,
];
