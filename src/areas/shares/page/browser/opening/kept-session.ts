import type { Opening } from './share-reply.js';

/** The part of `Storage` that the page uses. */
export interface TabStorage {
  readonly getItem: (key: string) => string | null;
  readonly setItem: (key: string, value: string) => void;
  readonly removeItem: (key: string) => void;
}

/** The session of an opened share, which survives a reload of the tab and no more. Its token shows later that the visitor opened it. */
export interface KeptSession {
  /** Returns the opening, whose files have no URLs; null when none is kept. */
  readonly read: () => Opening | null;
  readonly keep: (opening: Opening) => void;
  readonly forget: () => void;
  /** Returns the token of the last session, which may have ended; null: the visitor has not opened the share in this tab. */
  readonly visitor: () => string | null;
}

/** @param storage returns the storage of the tab; a browser may refuse it by an exception */
export function makeKeptSession(storage: () => TabStorage, token: string): KeptSession {
  const [key, visitorKey] = [`share ${token}`, `visitor ${token}`];
  const orNull = <Result>(use: (opened: TabStorage) => Result): Result | null => {
    try {
      return use(storage());
    } catch {
      // Without a storage a reload asks for the password again.
      return null;
    }
  };
  return {
    read: () => orNull((opened) => JSON.parse(opened.getItem(key) ?? 'null') as Opening | null),
    keep: ({ files, ...opening }) => {
      // A signed URL opens a file without the session, so none is kept.
      const withoutUrls = files.map((file) => ({ ...file, media: [] }));
      orNull((opened) => {
        opened.setItem(key, JSON.stringify({ ...opening, files: withoutUrls } satisfies Opening));
        opened.setItem(visitorKey, opening.session);
      });
    },
    forget: () => {
      orNull((opened) => {
        opened.removeItem(key);
      });
    },
    visitor: () => orNull((opened) => opened.getItem(visitorKey)),
  };
}
