/** The id, causes, actor and time of a command. A repeated command has the same `commandId` and `time`. */
export interface CommandContext {
  /** A UUID. The ids of the command's events derive from it. */
  readonly commandId: string;
  readonly causationId: string;
  readonly correlationId: string;
  /** See `EventMetadata.actor`. */
  readonly actor: string;
  readonly time: Date;
  /** Whether no other attempt uses the id, because the request has no `Idempotency-Key`. False when left out. */
  readonly isUnique?: boolean;
  /** The request that waits for the command; absent where none does. */
  readonly request?: RequestProgress;
}

/** What a request has done, for the reply where the command does not end in time (src/http/access/README.md#limit-of-a-request). */
export interface RequestProgress {
  /** Whether the request has been answered before its command ended. Then no append begins. */
  isOver(): boolean;
  /** Reports that an append begins: from now on the request may have written. */
  appending(): void;
  /** Reports that the append wrote nothing and never will. */
  wroteNothing(): void;
}
