import { Registry } from 'prom-client';
import { composeHttp, type Http } from '../http/server/compose.js';
import type { Readiness } from '../observing/health.js';
import { describePasswordRules } from '../security/passwords/password-rules.js';
import { sealedSchema } from '../event-sourcing/ports/events.js';
import { erased, type Sealer } from '../keys/sealing/sealer.js';
import type { ReplySealer } from '../http/access/idempotency.js';
import { makeAccountRoutes, makeAuthRoutes } from '../areas/accounts/routes/account.js';
import { makeInvitationRoutes } from '../areas/projects/routes/account-invitations.js';
import { makeAccountEmailRoutes } from '../areas/accounts/routes/account-email.js';
import { makeTwoFactorRoutes } from '../areas/accounts/routes/account-two-factor.js';
import { makeBillingRoutes } from '../areas/projects/routes/billing.js';
import { makeAssetImportRoutes } from '../areas/assets/routes/asset-import.js';
import { makeAssetMediaRoutes } from '../areas/assets/routes/asset-media.js';
import { makeAssetUploadRoutes } from '../areas/assets/routes/asset-uploads.js';
import { makeAssetRoutes } from '../areas/assets/routes/assets.js';
import { makeApiKeyRoutes } from '../areas/projects/routes/api-keys.js';
import {
  type AuditHistorySource,
  makeAuditEventRoutes,
  makeAuditPageRoutes,
} from '../areas/audit/routes/audit-events.js';
import { type AuditSource, makeAuditLogRoutes } from '../areas/audit/routes/audit-log.js';
import { makeLoginRoutes } from '../areas/accounts/routes/auth-login.js';
import { makeMemberRoutes } from '../areas/projects/routes/members.js';
import { makeSessionRoutes } from '../areas/accounts/routes/auth-sessions.js';
import { makeOrderPaymentRoutes } from '../areas/payments/routes/order-payments.js';
import { makeOrderRoutes } from '../areas/payments/routes/orders.js';
import { makePaymentRoutes } from '../areas/payments/routes/payments.js';
import { makePaymentWebhookRoutes } from '../areas/payments/routes/payment-webhooks.js';
import { makeAdminNodeRoutes } from '../areas/nodes/routes/admin-nodes.js';
import { makeNodeRoutes } from '../areas/nodes/routes/peer-lists.js';
import { makePasskeyRoutes } from '../areas/accounts/routes/passkeys/passkeys.js';
import { makeProjectAuditRoutes } from '../areas/audit/routes/project-audit.js';
import { makeProjectRoutes } from '../areas/projects/routes/projects.js';
import { makePublicShareRoutes, makeSharePageRoutes } from '../areas/shares/routes/shares-public.js';
import { makeShareAccessRoutes } from '../areas/shares/routes/share-accesses.js';
import { makeShareRoutes } from '../areas/shares/routes/shares.js';
import { makeStorageChangeRoutes } from '../areas/storages/routes/storage-changes.js';
import { makeStorageRoutes } from '../areas/storages/routes/storages.js';
import type { Commands } from '../areas/commands.js';
import type { Readers } from '../../projections/readers.js';
import type { Clock } from '../kit/time/clock.js';
import type { Route } from '../http/route.js';
import type { Config } from '../config/config.js';
import type { Services } from './services.js';
import { version } from '../version.js';

/** Builds the HTTP shell over the services. @throws Error naming each route whose policy differs from the matrix */
export function makeHttp(
  services: Services,
  readiness: Readiness,
  registry: Registry = new Registry(),
): Http & { readonly registry: Registry } {
  const { config, sealer, log, commands, readers } = services;
  const http = composeHttp({
    ...services,
    logger: log.logger,
    registry,
    readiness,
    version,
    publicUrl: config.publicUrl,
    corsOrigins: config.corsOrigins,
    passwordRules: describePasswordRules(config.passwordExtraChecks),
    available: { mail: config.mailConfigured, passkeys: config.passkeys !== null },
    stateStore: services.stores.stateStore,
    writesWaitMs: services.stores.writesWaitMs,
    replySealer: makeReplySealer(sealer),
    trustedProxies: config.trustedProxies,
    limits: config.limits,
    maxRequests: config.maxRequests,
    routes: makeRoutes({
      ...{ ...commands, ...readers, audit: services.audit, clock: services.clock },
      ...config,
      allowsHttp: config.storageAllowedCidrs.length > 0,
    }),
  });
  return { ...http, registry };
}

/** What the routes of all areas are made of. */
type RouteDeps = Commands &
  Readers &
  Pick<Config, 'mailConfigured' | 'passkeys' | 'plans'> & {
    readonly audit: AuditSource & AuditHistorySource;
    readonly clock: Clock;
    /** See `makeSharePage`. */
    readonly allowsHttp: boolean;
  };

/** Makes the routes of all areas, in the order of the OpenAPI document. */
export function makeRoutes({ audit, ...deps }: RouteDeps): readonly Route[] {
  return [
    ...makeAuthRoutes(deps),
    ...makeLoginRoutes(deps),
    ...makeSessionRoutes(deps),
    ...makeAccountRoutes(deps),
    ...makeInvitationRoutes(deps),
    ...makeAccountEmailRoutes(deps),
    ...makeTwoFactorRoutes(deps),
    ...makePasskeyRoutes(deps),
    ...makeProjectRoutes(deps),
    ...makeBillingRoutes(deps),
    ...makeMemberRoutes(deps),
    ...makeApiKeyRoutes(deps),
    ...makeStorageRoutes(deps),
    ...makeStorageChangeRoutes(deps),
    ...makeAssetRoutes(deps),
    ...makeAssetImportRoutes(deps),
    ...makeAssetMediaRoutes(deps),
    ...makeAssetUploadRoutes(deps),
    ...makeShareRoutes(deps),
    ...makeShareAccessRoutes(deps),
    ...makePublicShareRoutes(deps),
    ...makeOrderRoutes(deps),
    ...makeOrderPaymentRoutes(deps),
    ...makeSharePageRoutes(deps),
    ...makePaymentWebhookRoutes(deps),
    ...makePaymentRoutes(deps),
    ...makeAuditPageRoutes(),
    ...makeAuditLogRoutes(audit),
    ...makeAuditEventRoutes({ ...deps, ...audit }),
    ...makeProjectAuditRoutes(audit),
    ...makeAdminNodeRoutes(deps),
    ...makeNodeRoutes(deps),
  ];
}

/** Makes what seals the replies that are kept for an `Idempotency-Key`. */
export function makeReplySealer(sealer: Pick<Sealer, 'seal' | 'open'>): ReplySealer {
  return {
    seal: (claim, plaintext) => sealer.seal({ kind: 'reply', claim }, 'reply', plaintext),
    open: async (claim, sealed) => {
      const opened = await sealer.open({ kind: 'reply', claim }, 'reply', sealedSchema.parse(sealed));
      if (opened === erased) throw new Error('a stored reply cannot be erased');
      return opened;
    },
  };
}
