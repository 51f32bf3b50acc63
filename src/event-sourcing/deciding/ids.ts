import { hash } from 'node:crypto';
import { parse, v7 } from 'uuid';
import type { CommandContext } from '../ports/command-context.js';
import type { NewEvent } from '../ports/domain-event.js';

/** The namespace of our event ids (RFC 9562, section 5.5). It never changes: a repeated command must make equal ids. */
const eventNamespace = Buffer.from(parse('6f1c1f5e-9a83-4c0f-9f8e-0c6d6a3b7a51'));

/**
 * Returns the UUIDv5 of the `index`-th event that a command appends to a stream. A repeated command makes the same. With
 * other content, for example values that it sealed again, it makes another: the store recognises a repeated append by
 * its ids alone, and would acknowledge content that is not in the log.
 */
export function eventId(
  commandId: string,
  stream: string,
  index: number,
  { type, data }: Pick<NewEvent, 'type' | 'data'>,
): string {
  return derivedUuid(`${commandId}/${stream}/${index}/${type}/${JSON.stringify(data)}`);
}

/** Returns the UUIDv5 of the command that appends a reaction's outcome: the same in every process and attempt. */
export function reactionCommandId(causeId: string, reaction: string): string {
  return derivedUuid(`${causeId}/${reaction}`);
}

/**
 * Returns the context of one step of a command that appends to one stream more than once. The step's command id derives
 * from the command's, so that no two events share an id.
 */
export function stepContext(context: CommandContext, step: string): CommandContext {
  return { ...context, commandId: derivedUuid(`${context.commandId}/${step}`) };
}

/**
 * Returns the id of a resource that a command makes: a UUIDv7 (RFC 9562, section 5.7) of the command's time. Its random
 * bits derive from command id and label, so a repeated command makes the same. `label` separates several resources.
 */
export function derivedId(context: Pick<CommandContext, 'commandId' | 'time'>, label: string): string {
  const random = hash('sha256', `${context.commandId}/${label}`, 'buffer').subarray(0, 16);
  return v7({ msecs: context.time.getTime(), random, seq: random.readUInt32BE(6) });
}

/** Returns a UUIDv5 (RFC 9562, section 5.5). Every event needs one or two; the library's function is much slower. */
function derivedUuid(name: string): string {
  const bytes = Buffer.allocUnsafe(eventNamespace.length + Buffer.byteLength(name));
  bytes.write(name, eventNamespace.copy(bytes));
  const digits = hash('sha1', bytes);
  const variant = ((Number.parseInt(digits.charAt(16), 16) & 0b0011) | 0b1000).toString(16);
  const [low, mid, high] = [digits.slice(0, 8), digits.slice(8, 12), digits.slice(13, 16)];
  return `${low}-${mid}-5${high}-${variant}${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}
