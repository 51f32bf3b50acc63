import type { CommandHandler } from '../../event-sourcing/deciding/command-handler.js';
import type { Page, ViewLags } from '../../event-sourcing/views/views.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import type { Digests, RandomBytes } from '../../keys/sealing/digests.js';
import type { Sealer } from '../../keys/sealing/sealer.js';
import type { Background } from '../../kit/background.js';
import type { Clock } from '../../kit/time/clock.js';

const pageSize = 200;

/** Yields every id, page by page. A page begins after the last id, so the caller may remove ids from the view. */
export async function* everyId(read: (page: Page) => Promise<readonly string[]>): AsyncGenerator<string> {
  let after: string | undefined;
  do {
    const ids = await read(after === undefined ? { limit: pageSize } : { after, limit: pageSize });
    yield* ids;
    after = ids.at(-1);
  } while (after !== undefined);
}

/**
 * The collaborators that use cases of every area share. Each area adds its own in its `deps.ts`. A name has one type in every
 * factory. A factory takes the collaborators of its area, and names its own by destructuring. One that is also made beside an area
 * selects them with `Pick`. A use case that serves other use cases is not listed here: it is a separate parameter.
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
