import type { Config } from '../../config/config.js';
import { makeAllowedAddresses } from '../../areas/storages/domain/bucket/allowed-addresses.js';
import type { EventStore } from '../../event-sourcing/ports/event-store.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import { makeAllowedAddress } from '../../outgoing/allowed-address.js';
import { makeOutgoingHttp, type OutgoingHttp, type OutgoingOptions } from '../../outgoing/outgoing-http.js';
import { makeWebhookCounters, type WebhookCounters } from '../../observing/webhook-metrics.js';
import { type DeliveryRecords, makeDeliveryRecords } from '../../webhooks/delivery-records.js';
import type { WebhookEndpoint } from '../../webhooks/endpoint.js';
import { makeWebhookAdmin, type WebhookAdmin } from '../../webhooks/webhook-admin.js';

/** The outgoing events of a process: src/webhooks/README.md#delivery. */
export interface Webhooks {
  readonly endpoints: readonly WebhookEndpoint[];
  readonly records: DeliveryRecords;
  readonly http: OutgoingHttp;
  readonly admin: WebhookAdmin;
  readonly counters: WebhookCounters;
}

export function openWebhooks(deps: {
  readonly config: Pick<Config, 'webhooks' | 'webhookAllowedCidrs'>;
  readonly eventStore: EventStore;
  readonly stateStore: StateStore;
  readonly clock: { now(): Date };
  readonly outgoing: OutgoingOptions | undefined;
}): Webhooks {
  const { config, eventStore, stateStore, clock, outgoing } = deps;
  const { webhookAllowedCidrs: cidrs } = config;
  const endpoints = config.webhooks();
  const records = makeDeliveryRecords(stateStore);
  return {
    ...{ endpoints, records },
    http: makeOutgoingHttp({
      isAllowed: makeAllowedAddress(cidrs),
      isAllowedPlain: makeAllowedAddresses(cidrs),
      ...outgoing,
    }),
    admin: makeWebhookAdmin({ endpoints, records, eventStore, clock }),
    counters: makeWebhookCounters(),
  };
}
