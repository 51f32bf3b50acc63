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

/** A store cannot be reached, is full, or is shut; the operation certainly had no effect (reads: no answer). */
export class StoreUnavailable extends Error {
  override readonly name: string = 'StoreUnavailable';
}

/** The write may have happened, may still happen, or may not; repeat it with the same ids, or read. */
export class OutcomeUnknown extends StoreUnavailable {
  override readonly name = 'OutcomeUnknown';
}

/** The store's data is damaged or belongs to something else. The message says what to do; retrying cannot help. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged';
}

/** The event or the append is larger than the limits (256 KiB an event, 512 KiB an append). Nothing was written. */
export class EventTooLarge extends Error {
  override readonly name = 'EventTooLarge';
}

/** A stored event has no known type or does not fit its schema. Never skipped. */
export class UndecodableEvent extends Error {
  override readonly name = 'UndecodableEvent';
}

/** A command lost every race it was allowed to run, or its queue is full. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
}

/** The caller's `If-Match` names another revision than the stream has. */
export class PreconditionFailed extends Error {
  override readonly name = 'PreconditionFailed';
}

/** A decision refused the command. `code` is from the aggregate's closed union; HTTP words live elsewhere. */
export class CommandRejected<Code extends string = string> extends Error {
  override readonly name = 'CommandRejected';
  readonly code: Code;
  constructor(code: Code, message: string) {
    super(message);
    this.code = code;
  }
}

/** Why something stopped for good, in a word where the message is not ours: it may quote what could not be handled. */
export function reasonOf(error: unknown): string {
  if (error instanceof UndecodableEvent || error instanceof StoreDamaged) return error.message;
  return error instanceof Error ? error.name : typeof error;
}
