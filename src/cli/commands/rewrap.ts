import { z } from 'zod';
import { changeRequest, type OperatorReply } from '../../operating/socket/client.js';
import { done } from '../operate.js';
import type { Ask } from '../operator.js';

/** The report of one part of the sweep. */
const partSchema = z.object({
  rewrapped: z.int(),
  unreadable: z.int(),
  data_keys: z.record(z.string(), z.int()),
  next: z.string().nullable(),
});

/** Requests part after part and adds up the reports. An interrupted sweep starts again and skips finished records. */
export async function rewrapAll(ask: Ask): Promise<OperatorReply> {
  let after: string | undefined;
  let [rewrapped, unreadable] = [0, 0];
  const dataKeys: Record<string, number> = {};
  do {
    const reply = await ask(changeRequest('keys rewrap', { after }));
    if (!reply.ok) return reply;
    const part: z.output<typeof partSchema> = partSchema.parse(reply.result);
    rewrapped += part.rewrapped;
    unreadable += part.unreadable;
    for (const [kid, count] of Object.entries(part.data_keys)) dataKeys[kid] = (dataKeys[kid] ?? 0) + count;
    after = part.next ?? undefined;
  } while (after !== undefined);
  return done({ rewrapped, unreadable, data_keys: dataKeys });
}
