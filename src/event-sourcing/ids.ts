import { hash } from 'node:crypto';
import { parse, v7 } from 'uuid';
import type { CommandContext } from './command-handler.js';

/** The namespace of our event ids (RFC 9562, section 5.5). Never changes: a repeated append must find its ids again. */
const eventNamespace = Buffer.from(parse('6f1c1f5e-9a83-4c0f-9f8e-0c6d6a3b7a51'));

/** The id of the `index`-th event that a command appends to a stream: UUIDv5, the same whenever the command is repeated. */
export function eventId(commandId: string, stream: string, index: number): string {
  return derivedUuid(`${commandId}/${stream}/${index}`);
}

/** The id of the command by which a reaction appends the outcome of an event: UUIDv5, the same in every process and try. */
export function reactionCommandId(causeId: string, reaction: string): string {
  return derivedUuid(`${causeId}/${reaction}`);
}

/**
 * A step of a use case that appends to one stream more than once: a command of its own, whose id follows from the use case's,
 * so that no two events have one id.
 */
export function stepContext(context: CommandContext, step: string): CommandContext {
  return { ...context, commandId: derivedUuid(`${context.commandId}/${step}`) };
}

/**
 * The id of something that a command makes: UUIDv7 (RFC 9562, section 5.7) of the command's time, its random bits
 * derived from the command's id, so that a repetition makes the same thing. `label` tells several apart.
 */
export function derivedId(context: Pick<CommandContext, 'commandId' | 'time'>, label: string): string {
  const random = hash('sha256', `${context.commandId}/${label}`, 'buffer').subarray(0, 16);
  return v7({ msecs: context.time.getTime(), random, seq: random.readUInt32BE(6) });
}

/** UUIDv5 (RFC 9562, section 5.5). Every event takes one or two: the library's own takes several times as long as the digest. */
function derivedUuid(name: string): string {
  const digits = hash('sha1', Buffer.concat([eventNamespace, Buffer.from(name)]));
  const variant = ((Number.parseInt(digits.charAt(16), 16) & 0b0011) | 0b1000).toString(16);
  const [low, mid, high] = [digits.slice(0, 8), digits.slice(8, 12), digits.slice(13, 16)];
  return `${low}-${mid}-5${high}-${variant}${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}
