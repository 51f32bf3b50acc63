import type { AnyProjection, AnyView } from '../src/event-sourcing/views/projection.js';
import { assetsProjection } from './assets/projection.js';
import { ordersProjection } from './orders/projection.js';
import { paymentCallbacksProjection } from './payment-callbacks/projection.js';
import { peerNodesProjection } from './peer-nodes/projection.js';
import { projectsProjection } from './projects/projection.js';
import { sessionsProjection } from './sessions/projection.js';
import { shareAccessesProjection } from './share-accesses/projection.js';
import { shareDownloadsTally } from './share-accesses/downloads-tally.js';
import { shareViewsTally } from './share-accesses/views-tally.js';
import { sharesProjection } from './shares/projection.js';
import { storageConfigsProjection } from './storage-configs/projection.js';
import { transactionsProjection } from './transactions/projection.js';
import { usageTally } from './usage/projection.js';
import { usersProjection } from './users/projection.js';

/** The views whose documents fold one stream each. */
export const projections: readonly AnyProjection[] = [
  usersProjection,
  sessionsProjection,
  projectsProjection,
  storageConfigsProjection,
  assetsProjection,
  sharesProjection,
  shareAccessesProjection,
  peerNodesProjection,
  ordersProjection,
  paymentCallbacksProjection,
  transactionsProjection,
];

/** All views: also those whose documents are totals over many streams. */
export const allViews: readonly AnyView[] = [
  ...projections,
  usageTally,
  shareViewsTally,
  shareDownloadsTally,
];
