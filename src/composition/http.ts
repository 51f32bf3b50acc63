import { Registry } from 'prom-client';
import { composeHttp, type Http } from '../http/compose.js';
import { checkAccessMatrix } from '../http/check-routes.js';
import type { Readiness } from '../observing/readiness.js';
import { describePasswordRules } from '../security/password-rules.js';
import { sealedSchema } from '../event-sourcing/ports/sealed.js';
import { erased } from '../keys/sealer.js';
import { makeAccountRoutes } from '../http/routes/account.js';
import { makeInvitationRoutes } from '../http/routes/account-invitations.js';
import { makeEmailChangeRoutes } from '../http/routes/account-email.js';
import { makeEmailVerificationRoutes } from '../http/routes/account-verification.js';
import { makeTwoFactorRoutes } from '../http/routes/account-two-factor.js';
import { makeBillingRoutes } from '../http/routes/billing.js';
import { makeAssetImportRoutes } from '../http/routes/asset-import.js';
import { makeAssetMediaRoutes } from '../http/routes/asset-media.js';
import { makeAssetRenditionRoutes } from '../http/routes/asset-renditions.js';
import { makeAssetUploadRoutes } from '../http/routes/asset-uploads.js';
import { makeAssetRoutes } from '../http/routes/assets.js';
import { makeApiKeyRoutes } from '../http/routes/api-keys.js';
import { makeAuditEventRoutes } from '../http/routes/audit-events.js';
import { makeAuditLogRoutes } from '../http/routes/audit-log.js';
import { makeAuditPageRoutes } from '../http/routes/audit-page.js';
import { makeAuthRoutes } from '../http/routes/auth.js';
import { makeEmailCodeRoutes } from '../http/routes/auth-email-code.js';
import { makeLoginRoutes } from '../http/routes/auth-login.js';
import { makeMemberRoutes } from '../http/routes/members.js';
import { makeReauthenticationRoutes } from '../http/routes/auth-reauthenticate.js';
import { makeSessionRoutes } from '../http/routes/auth-sessions.js';
import { makeOrderPaymentRoutes } from '../http/routes/order-payments.js';
import { makeOrderRoutes } from '../http/routes/orders.js';
import { makePaymentRecordRoutes } from '../http/routes/payment-records.js';
import { makePaymentRoutes } from '../http/routes/payments.js';
import { makePaymentWebhookRoutes } from '../http/routes/payment-webhooks.js';
import { makeAdminNodeRoutes } from '../http/routes/admin-nodes.js';
import { makeNodeRoutes } from '../http/routes/nodes.js';
import { makePasskeyLoginRoutes } from '../http/routes/passkey-login.js';
import { makePasskeyRoutes } from '../http/routes/passkeys.js';
import { makeProjectAuditRoutes } from '../http/routes/project-audit.js';
import { makeProjectRoutes } from '../http/routes/projects.js';
import { makePlaylistRoutes } from '../http/routes/playlists.js';
import { makePublicShareRoutes } from '../http/routes/shares-public.js';
import { makeSharePageRoutes } from '../http/routes/share-page.js';
import { makeShareMailRoutes } from '../http/routes/share-mail.js';
import { makeShareAccessRoutes } from '../http/routes/share-accesses.js';
import { makeShareRoutes } from '../http/routes/shares.js';
import { makeStorageChangeRoutes } from '../http/routes/storage-changes.js';
import { makeStorageRoutes } from '../http/routes/storages.js';
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
    replySealer: {
      seal: (claim, plaintext) => sealer.seal({ kind: 'reply', claim }, 'reply', plaintext),
      open: async (claim, sealed) => {
        const opened = await sealer.open({ kind: 'reply', claim }, 'reply', sealedSchema.parse(sealed));
        if (opened === erased) throw new Error('a stored reply cannot be erased');
        return opened;
      },
    },
    trustedProxies: config.trustedProxies,
    limits: config.limits,
    maxConnectionsPerClient: config.maxConnectionsPerClient,
    maxRequestsPerUser: config.maxRequestsPerUser,
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
      ...makePaymentRecordRoutes(commands),
      ...makeAuditPageRoutes(),
      ...makeAuditLogRoutes(services.audit),
      ...makeAuditEventRoutes(services.audit),
      ...makeProjectAuditRoutes(services.audit),
      ...makeAdminNodeRoutes({ ...commands, ...readers }),
      ...makeNodeRoutes({ ...commands, ...readers, clock: services.clock }),
    ],
  });
  checkAccessMatrix(http.routes);
  return { ...http, registry };
}
