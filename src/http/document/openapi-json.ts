/** A part of the document. */
export type Json = Record<string, unknown>;

/** Whether a schema is of what the service receives, or of what it sends. */
export type Io = 'input' | 'output';
