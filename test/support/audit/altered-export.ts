import type { ExportedEvent, ExportFiles } from './audit-export.js';

/** Returns the files with another content, or without a file where the content is null. */
export function withFiles(
  files: ExportFiles,
  changes: Readonly<Record<string, Buffer | string | null>>,
): Map<string, Buffer> {
  const copy = new Map(files);
  for (const [path, content] of Object.entries(changes)) {
    if (content === null) copy.delete(path);
    else copy.set(path, Buffer.from(content));
  }
  return copy;
}

/** Returns a copy of the bytes of a file. */
export function bytesOf(files: ExportFiles, path: string): Buffer {
  const bytes = files.get(path);
  if (bytes === undefined) throw new Error(`the export has no ${path}`);
  return Buffer.from(bytes);
}

/** Returns the lines of a file, without their line breaks. */
export function linesOf(files: ExportFiles, path: string): string[] {
  return bytesOf(files, path).toString().split('\n').slice(0, -1);
}

export function joinLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** Returns the events with another amount in one of them. */
export function withForgedAmount(events: readonly ExportedEvent[], index: number): ExportedEvent[] {
  return events.map((event, at) =>
    at === index ? { ...event, data: { ...event.data, amount: 7_000_000 } } : event,
  );
}
