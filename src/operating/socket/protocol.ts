import { join, relative } from 'node:path';
import { z } from 'zod';
import type { JsonValue } from '../../event-sourcing/ports/domain-event.js';

const jsonValue: z.ZodType<JsonValue> = z.json();

/** The request: one line of JSON, one request a connection. Only the service's user may open the socket (mode 0600). */
export const requestSchema = z.strictObject({
  operation: z.string(),
  input: z.record(z.string(), jsonValue),
});

/** The reply: one line of JSON. `message` is for a person at a terminal. */
export const replySchema = z.discriminatedUnion('ok', [
  z.strictObject({ ok: z.literal(true), result: jsonValue }),
  z.strictObject({ ok: z.literal(false), code: z.string(), message: z.string() }),
]);

export type ControlRequest = z.infer<typeof requestSchema>;
export type ControlReply = z.infer<typeof replySchema>;

/** The longest request or reply in bytes. */
export const lineBytesMax = 1024 * 1024;

/** Returns the shorter of the absolute and the relative path: sockaddr_un holds 108 bytes with the zero (unix(7)). */
export function controlSocketPath(dataDirectory: string): string {
  const absolute = join(dataDirectory, 'control.sock');
  const fromHere = relative(process.cwd(), absolute);
  return fromHere.length < absolute.length ? fromHere : absolute;
}
