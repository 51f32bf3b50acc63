import { sealedSchema } from '../../../src/event-sourcing/ports/events.js';
import type { Sealed } from '../../../src/event-sourcing/ports/domain-event.js';

/** Makes a value in the form of a sealed one; no key opens it. */
export function sealedExample(text: string): Sealed {
  return sealedSchema.parse(`v1.${Buffer.from(text).toString('base64url').padEnd(80, 'A')}`);
}
