import { Registry } from 'prom-client';
import { composeHttp, type Http } from '../http/server/compose.js';
import { checkAccessMatrix } from '../http/server/check-routes.js';
import type { Readiness } from '../observing/health.js';
import { describePasswordRules } from '../security/passwords/password-rules.js';
import { sealedSchema } from '../event-sourcing/ports/domain-event.js';
import { erased, type Sealer } from '../keys/sealing/sealer.js';
import type { ReplySealer } from '../http/access/idempotency.js';
import { makeAccountRoutes, makeAuthRoutes } from '../areas/accounts/routes/account.js';
import { makeInvitationRoutes } from '../areas/projects/routes/account-invitations.js';
import {
  makeEmailChangeRoutes,
  makeEmailVerificationRoutes,
} from '../areas/accounts/routes/account-email.js';
import { makeTwoFactorRoutes } from '../areas/accounts/routes/account-two-factor.js';
import { makeBillingRoutes } from '../areas/projects/routes/billing.js';
import { makeAssetImportRoutes } from '../areas/assets/routes/asset-import.js';
import { makeAssetMediaRoutes } from '../areas/assets/routes/asset-media.js';
import { makeAssetRenditionRoutes, makeAssetUploadRoutes } from '../areas/assets/routes/asset-uploads.js';
import { makeAssetRoutes } from '../areas/assets/routes/assets.js';
import { makeApiKeyRoutes } from '../areas/projects/routes/api-keys.js';
import { makeAuditEventRoutes, makeAuditPageRoutes } from '../areas/audit/routes/audit-events.js';
import { makeAuditLogRoutes } from '../areas/audit/routes/audit-log.js';
import { makeEmailCodeRoutes, makeLoginRoutes } from '../areas/accounts/routes/auth-login.js';
import { makeMemberRoutes } from '../areas/projects/routes/members.js';
import { makeReauthenticationRoutes, makeSessionRoutes } from '../areas/accounts/routes/auth-sessions.js';
import { makeOrderPaymentRoutes } from '../areas/payments/routes/order-payments.js';
import { makeOrderRoutes } from '../areas/payments/routes/orders.js';
import { makePaymentRoutes } from '../areas/payments/routes/payments.js';
import { makePaymentWebhookRoutes } from '../areas/payments/routes/payment-webhooks.js';
import { makeAdminNodeRoutes } from '../areas/nodes/routes/admin-nodes.js';
import { makeNodeRoutes } from '../areas/nodes/routes/peer-lists.js';
import { makePasskeyLoginRoutes, makePasskeyRoutes } from '../areas/accounts/routes/passkeys/passkeys.js';
import { makeProjectAuditRoutes } from '../areas/audit/routes/project-audit.js';
import { makeProjectRoutes } from '../areas/projects/routes/projects.js';
import {
  makePlaylistRoutes,
  makePublicShareRoutes,
  makeSharePageRoutes,
} from '../areas/shares/routes/shares-public.js';
import { makeShareAccessRoutes, makeShareMailRoutes } from '../areas/shares/routes/share-accesses.js';
import { makeShareRoutes } from '../areas/shares/routes/shares.js';
import { makeStorageChangeRoutes } from '../areas/storages/routes/storage-changes.js';
import { makeStorageRoutes } from '../areas/storages/routes/storages.js';
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
    routes: [
      ...makeAuthRoutes({ ...commands, ...readers }),
      ...makeLoginRoutes(commands),
      ...makeEmailCodeRoutes({ ...commands, mailConfigured: config.mailConfigured }),
      ...makeReauthenticationRoutes({ ...commands, passkeys: config.passkeys }),
      ...makeSessionRoutes({ ...commands, ...readers }),
      ...makeAccountRoutes(commands),
      ...makeInvitationRoutes({ ...commands, ...readers }),
      ...makeEmailChangeRoutes(commands),
      ...makeEmailVerificationRoutes(commands),
      ...makeTwoFactorRoutes(commands),
      ...makePasskeyRoutes({ ...commands, ...readers, passkeys: config.passkeys }),
      ...makePasskeyLoginRoutes({ ...commands, passkeys: config.passkeys }),
      ...makeProjectRoutes({ ...commands, ...readers }),
      ...makeBillingRoutes(commands),
      ...makeMemberRoutes({ ...commands, ...readers }),
      ...makeApiKeyRoutes({ ...commands, ...readers }),
      ...makeStorageRoutes({ ...commands, ...readers }),
      ...makeStorageChangeRoutes({ ...commands, ...readers }),
      ...makeAssetRoutes({ ...commands, ...readers }),
      ...makeAssetImportRoutes(commands),
      ...makeAssetMediaRoutes(commands),
      ...makeAssetRenditionRoutes(commands),
      ...makeAssetUploadRoutes(commands),
      ...makeShareRoutes({ ...commands, ...readers }),
      ...makeShareAccessRoutes(readers),
      ...makeShareMailRoutes(commands),
      ...makePublicShareRoutes(commands),
      ...makePlaylistRoutes(commands),
      ...makeOrderRoutes({ ...commands, ...readers, plans: config.plans }),
      ...makeOrderPaymentRoutes(commands),
      ...makeSharePageRoutes({ ...commands, allowsHttp: config.storageAllowedCidrs.length > 0 }),
      ...makePaymentWebhookRoutes(commands),
      ...makePaymentRoutes({ ...commands, ...readers }),
      ...makeAuditPageRoutes(),
      ...makeAuditLogRoutes(services.audit),
      ...makeAuditEventRoutes({ ...services.audit, ...readers }),
      ...makeProjectAuditRoutes(services.audit),
      ...makeAdminNodeRoutes({ ...commands, ...readers }),
      ...makeNodeRoutes({ ...commands, ...readers, clock: services.clock }),
    ],
  });
  checkAccessMatrix(http.routes);
  return { ...http, registry };
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
