import { randomUUID } from 'node:crypto';
import type { ProposedEvent } from './log.js';

/** Makes an event as another application might write it, without the adapter. */
export function makeProposed(overrides: {
  readonly type?: string;
  readonly contentType?: string;
  readonly data?: string;
  readonly metadata?: string;
}): ProposedEvent {
  return {
    id: randomUUID(),
    type: overrides.type ?? 'ElsewhereHappened',
    contentType: overrides.contentType ?? 'application/json',
    data: Buffer.from(overrides.data ?? '{}'),
    metadata: Buffer.from(overrides.metadata ?? ''),
  };
}
