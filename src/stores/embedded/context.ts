import { join } from 'node:path';
import { v4 } from 'uuid';
import type { Clock, Random } from '../../event-sourcing/clock.js';
import type { Fault } from './faults.js';
import type { FileFormat } from './formats.js';
import type { GroupWriterOptions } from './group-writer.js';

/** What the three stores of a data directory have in common. */
export interface EmbeddedContext {
  readonly directory: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Told when a file cannot be used any more (its disk failed, it is damaged, its thread ended): end the process. */
  readonly onFatal: (error: Error) => void;
  /** How long a write may take (milliseconds). */
  readonly writeLimitMs: number;
  /** Tests only. */
  readonly faults: readonly Fault[];
  /** Tests only: pages of 4 KiB after which the disk of a file counts as full. */
  readonly pageCountMax?: number;
}

export function pathOf(context: EmbeddedContext, format: FileFormat): string {
  return join(context.directory, format.fileName);
}

/** The options of a file's writer, apart from what happens after a commit. */
export function writerOptions(
  context: EmbeddedContext,
  format: FileFormat,
): Omit<GroupWriterOptions<never, never>, 'onCommitted'> {
  const { random, faults, pageCountMax, writeLimitMs, onFatal } = context;
  const newLogId = v4({ random: Uint8Array.from({ length: 16 }, () => Math.floor(random() * 256)) });
  return {
    thread: {
      file: format.name,
      path: pathOf(context, format),
      newLogId,
      faults,
      ...(pageCountMax === undefined ? {} : { pageCountMax }),
    },
    limitMs: writeLimitMs,
    onFatal,
  };
}
