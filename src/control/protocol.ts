import { join, relative } from 'node:path';
import { z } from 'zod';
import type { JsonValue } from '../event-sourcing/domain-event.js';

const jsonValue: z.ZodType<JsonValue> = z.json();

/** One request a connection: a line of JSON. The socket belongs to the service's user alone (mode 0600). */
export const requestSchema = z.strictObject({
  operation: z.string(),
  input: z.record(z.string(), jsonValue),
});

/** The answer: a line of JSON. `message` is for a person at a terminal. */
export const replySchema = z.discriminatedUnion('ok', [
  z.strictObject({ ok: z.literal(true), result: jsonValue }),
  z.strictObject({ ok: z.literal(false), code: z.string(), message: z.string() }),
]);

export type ControlRequest = z.infer<typeof requestSchema>;
export type ControlReply = z.infer<typeof replySchema>;

/** Longest request or reply, in bytes. */
export const lineBytesMax = 1024 * 1024;

/**
 * The socket of a data directory. Socket addresses hold about 100 bytes (sockaddr_un, unix(7): 108 with the closing
 * zero), so the shorter of the absolute path and the one from the working directory is used.
 */
export function controlSocketPath(dataDirectory: string): string {
  const absolute = join(dataDirectory, 'control.sock');
  const fromHere = relative(process.cwd(), absolute);
  return fromHere.length < absolute.length ? fromHere : absolute;
}
