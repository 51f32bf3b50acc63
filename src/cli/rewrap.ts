import { z } from 'zod';
import type { ControlReply } from '../control/protocol.js';
import type { Ask } from './operator.js';

/** A part of the sweep, as the operation reports it. */
const partSchema = z.object({
  rewrapped: z.int(),
  unreadable: z.int(),
  data_keys: z.record(z.string(), z.int()),
  next: z.string().nullable(),
});

/** `keys rewrap`: asks for part after part, and sums them up. A sweep that was cut off is begun anew; what is done is passed over. */
export async function rewrapAll(ask: Ask): Promise<ControlReply> {
  let after: string | null = null;
  let [rewrapped, unreadable] = [0, 0];
  const dataKeys: Record<string, number> = {};
  do {
    const reply = await ask({ operation: 'keys rewrap', input: { after } });
    if (!reply.ok) return reply;
    const part: z.output<typeof partSchema> = partSchema.parse(reply.result);
    rewrapped += part.rewrapped;
    unreadable += part.unreadable;
    for (const [kid, count] of Object.entries(part.data_keys)) dataKeys[kid] = (dataKeys[kid] ?? 0) + count;
    after = part.next;
  } while (after !== null);
  return { ok: true, result: { rewrapped, unreadable, data_keys: dataKeys } };
}
