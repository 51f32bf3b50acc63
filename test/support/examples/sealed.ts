import { type Sealed, sealedSchema } from '../../../src/event-sourcing/sealed.js';

/** A value in the form of a sealed one; it opens nowhere. */
export function sealedExample(text: string): Sealed {
  return sealedSchema.parse(`v1.${Buffer.from(text).toString('base64url').padEnd(80, 'A')}`);
}
