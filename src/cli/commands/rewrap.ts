import { z } from 'zod';
import type { ControlReply } from '../../operating/socket/protocol.js';
import type { Ask } from '../operator.js';

/** The report of one part of the sweep. */
const partSchema = z.object({
  rewrapped: z.int(),
  unreadable: z.int(),
  data_keys: z.record(z.string(), z.int()),
  next: z.string().nullable(),
});

/** Requests part after part and adds up the reports. An interrupted sweep starts again and skips finished records. */
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
