import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import { makeRunOnce } from '../http/access/idempotency.js';
import { makeOperatorRoutes } from '../operating/routes/index.js';
import { makeOperatorHandler } from '../operating/socket/operator-app.js';
import { makeReplySealer } from './http.js';
import { sentenceOf } from './starting.js';
import type { Services } from './services.js';

/**
 * Makes the handler of operators' requests (src/operating/README.md#operations).
 * @param options.status returns the report of `src/observing/components.ts`
 */
export function makeOperators(
  services: Services,
  options: { readonly status: () => unknown; readonly logger?: Logger },
): RequestListener {
  const { config, clock, digests, sealer, stores } = services;
  const { status, logger = services.log.logger } = options;
  return makeOperatorHandler({
    routes: makeOperatorRoutes(services, status),
    runOnce: makeRunOnce({
      ...{ store: stores.stateStore, digest: digests, sealer: makeReplySealer(sealer), clock },
      newId: randomUUID,
      onReplyLost: (error) => {
        logger.warn({ error: sentenceOf(error) }, 'a reply could not be stored for its Idempotency-Key');
      },
    }),
    ...{ clock, logger, publicUrl: config.publicUrl },
  });
}
