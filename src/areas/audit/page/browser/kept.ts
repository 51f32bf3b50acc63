import { base64Of } from './proof/bytes.js';
import { type CheckpointNote, parseCheckpointNote } from './proof/note.js';

/** A part of `localStorage`. */
export interface BrowserStorage {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

/** The last checkpoint that this browser saw and checked. Nothing of it is secret. */
export type KeptNote = { readonly note: string; readonly checkpoint: CheckpointNote };

/** What this browser remembers: a checkpoint, and the keys that signed it. */
export type Kept = ReturnType<typeof makeKept>;

/** What the browser kept is damaged, or its storage is blocked. It must not count as a first visit. */
export class KeptUnreadable extends Error {
  override readonly name = 'KeptUnreadable';
}

const checkpointItem = 'stowage-audit-checkpoint';
const keysItem = 'stowage-audit-keys';

export function makeKept(storage: () => BrowserStorage) {
  const checkpoint = (): KeptNote | null => {
    const item = read(checkpointItem);
    return item === null ? null : keptNoteOf(item);
  };
  const keys = (): readonly string[] => {
    const item = read(keysItem);
    if (item === null) return [];
    const list = parsed(item);
    if (!Array.isArray(list) || !list.every((key) => typeof key === 'string')) throw unreadable();
    return list;
  };
  return {
    /** @throws KeptUnreadable */
    checkpoint,
    /** Returns vkeys. @throws KeptUnreadable */
    keys,
    /** Keeps a checkpoint, unless another tab has changed what is kept since `before` was read. Returns whether it did. */
    replace: (before: KeptNote | null, next: KeptNote) => {
      if (checkpoint()?.note !== before?.note) return false;
      const { origin, size, root } = next.checkpoint;
      write(checkpointItem, { origin, size, root: base64Of(root), note: next.note });
      return true;
    },
    rememberKey: (vkey: string) => write(keysItem, [...new Set([...keys(), vkey])]),
    forget: () => {
      storage().removeItem(checkpointItem);
      storage().removeItem(keysItem);
    },
  };

  function read(item: string): string | null {
    try {
      return storage().getItem(item);
    } catch {
      throw new KeptUnreadable('this browser blocks the storage of the page');
    }
  }

  function write(item: string, value: unknown): void {
    try {
      storage().setItem(item, JSON.stringify(value));
    } catch {
      throw new KeptUnreadable('this browser cannot store what it saw');
    }
  }
}

/** The fields beside the note are for people. The note decides, and both must say the same. */
function keptNoteOf(item: string): KeptNote {
  const fields = parsed(item);
  if (typeof fields !== 'object' || fields === null) throw unreadable();
  const { origin, size, root, note } = fields as Readonly<Record<string, unknown>>;
  const checkpoint = typeof note === 'string' ? parseCheckpointNote(note) : null;
  if (typeof note !== 'string' || checkpoint === null) throw unreadable();
  const isSame =
    checkpoint.origin === origin && checkpoint.size === size && base64Of(checkpoint.root) === root;
  if (!isSame) throw unreadable();
  return { note, checkpoint };
}

function parsed(item: string): unknown {
  try {
    return JSON.parse(item);
  } catch {
    throw unreadable();
  }
}

function unreadable(): KeptUnreadable {
  return new KeptUnreadable('what this browser kept cannot be read');
}
