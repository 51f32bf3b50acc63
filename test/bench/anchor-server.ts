import { pino } from 'pino';
import { makeDigests } from '../../src/keys/sealing/digests.js';
import { listen, makeAnchor, makeBare } from './anchors.js';

// The anchors of the rows over HTTP, in a separate process like the service. It ends with its parent.

/** The origins of the anchors. `/<size>` replies with that size. */
export interface Anchors {
  /** Koa with @koa/router and the request-id and log middleware of the service. */
  readonly anchor: string;
  /** Koa alone. */
  readonly bare: string;
}

const log = { logger: pino({ level: 'info' }), flush: () => Promise.resolve() };
const anchors: Anchors = {
  anchor: await listen(makeAnchor({ log, digests: makeDigests(Buffer.alloc(32, 1)) })),
  bare: await listen(makeBare()),
};
process.send?.(anchors);
process.once('disconnect', () => process.exit());
