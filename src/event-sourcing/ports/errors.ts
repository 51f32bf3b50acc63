/** The stream is not at the revision that the append expected. Nothing was written. */
export class WrongExpectedRevision extends Error {
  override readonly name = 'WrongExpectedRevision';
  readonly stream: string;
  readonly expected: bigint | 'no-stream';
  constructor(stream: string, expected: bigint | 'no-stream') {
    super(`stream ${stream} is not at ${expected}`);
    this.stream = stream;
    this.expected = expected;
  }
}

/** A store is unreachable, full or closed. Without OutcomeUnknown, an append or a state change had no effect. */
export class StoreUnavailable extends Error {
  override readonly name: string = 'StoreUnavailable';
}

/** A store has no room, so it refuses writes and may still answer reads. */
export class StoreFull extends StoreUnavailable {
  override readonly name = 'StoreFull';
}

/** The write may have happened, may still happen, or may never happen. Repeat it with the same ids, or read. */
export class OutcomeUnknown extends StoreUnavailable {
  override readonly name = 'OutcomeUnknown';
}

/** The store's data is damaged, or is other data than expected. A retry cannot help; the message says what to do. */
export class StoreDamaged extends Error {
  override readonly name: string = 'StoreDamaged';
}

/** One stream has lost events or was deleted. It stops only the consumers that need the stream; the rest of the log is whole. */
export class StreamDamaged extends StoreDamaged {
  override readonly name = 'StreamDamaged';
  readonly stream: string;
  /** @param stream its name without the prefix */
  constructor(stream: string, message: string) {
    super(message);
    this.stream = stream;
  }
}

/** Tells whether an error concerns the whole of a store, so that nothing that the store returns can be believed. */
export function endsProcess(error: unknown): boolean {
  return error instanceof StoreDamaged && !(error instanceof StreamDamaged);
}

/** An event exceeds 256 KiB, or an append exceeds 512 KiB. Nothing was written. */
export class EventTooLarge extends Error {
  override readonly name = 'EventTooLarge';
}

/** A document's body exceeds 12 MiB. Nothing was written, and a retry cannot help: the command must refuse before. */
export class DocumentTooLarge extends Error {
  override readonly name = 'DocumentTooLarge';
}

/** An event has an unknown type or does not fit its schema. No reader skips it: src/event-sourcing/feeding/README.md#undecodable-events. */
export class UndecodableEvent extends Error {
  override readonly name = 'UndecodableEvent';
}

/** `If-Match` names a revision other than the stream's. */
export class PreconditionFailed extends Error {
  override readonly name = 'PreconditionFailed';
}

/** `decide` rejected the command. `code` is from the aggregate's closed union, and is no HTTP code. */
export class CommandRejected<Code extends string = string> extends Error {
  override readonly name = 'CommandRejected';
  readonly code: Code;
  /** A word for programs that tells cases of one code apart; null for most rejections. */
  readonly reason: string | null;
  constructor(code: Code, message: string, reason: string | null = null) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

/**
 * The target of a command does not exist for its caller: it was never created, it was deleted, or it belongs to another
 * project. It takes precedence over PreconditionFailed.
 */
export class TargetNotFound<Code extends string = string> extends CommandRejected<Code> {}

/** A repeated command finds that what its first attempt made was removed since. */
export class RemovedSince extends CommandRejected<'removed_since'> {
  constructor() {
    super('removed_since', 'what an earlier attempt of this request made was removed since');
  }
}

/** Returns why a reader stopped. A foreign error gives only its name, because its message may quote data. */
export function reasonOf(error: unknown): string {
  if ([UndecodableEvent, StoreDamaged, DocumentTooLarge].some((ours) => error instanceof ours))
    return (error as Error).message;
  return error instanceof Error ? error.name : typeof error;
}
