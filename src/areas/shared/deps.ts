import type { CommandHandler } from '../../event-sourcing/deciding/command-handler.js';
import type { ViewLags } from '../../event-sourcing/views/views.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import type { Digests } from '../../keys/sealing/digests.js';
import type { RandomBytes } from '../../keys/sealing/random-bytes.js';
import type { Sealer } from '../../keys/sealing/sealer.js';
import type { Background } from '../../kit/background.js';
import type { Clock } from '../../kit/time/clock.js';

/**
 * The collaborators that use cases of every area share. Each area adds its own in its `deps.ts`. A name has one type in every
 * factory. A factory selects its collaborators with `Pick<Deps, …>`. A use case that serves other use cases is not listed here: it
 * is a separate parameter.
 */
export interface SharedDeps {
  readonly clock: Clock;
  readonly handler: CommandHandler;
  readonly stateStore: StateStore;
  readonly viewLags: Pick<ViewLags, 'requireFresh'>;
  readonly randomBytes: RandomBytes;
  readonly sealer: Sealer;
  readonly digests: Digests;
  readonly background: Background;
  /** `PUBLIC_URL`: the base of URLs of this service. */
  readonly publicUrl: string;
  /** Whether the service can send mail. */
  readonly mailConfigured: boolean;
  /** Reports a failure that no reply to a client shows. */
  readonly onFailure: (work: string, error: unknown) => void;
  /** The origins of pages that upload files to buckets and fetch media from them. */
  readonly browserOrigins: readonly string[];
}
