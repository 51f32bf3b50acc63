import type { Opening } from './share-reply.js';

/** The part of `Storage` that the page uses. */
interface TabStorage {
  readonly getItem: (key: string) => string | null;
  readonly setItem: (key: string, value: string) => void;
  readonly removeItem: (key: string) => void;
}

/**
 * Keeps the session of an opened share, which survives a reload of the tab and no more. Its token shows later that the visitor opened it.
 * @param storage returns the storage of the tab; a browser may refuse it by an exception
 */
export function makeKeptSession(storage: () => TabStorage, token: string) {
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
    /** Returns the opening, whose files have no URLs; null when none is kept. */
    read: () => orNull((opened) => JSON.parse(opened.getItem(key) ?? 'null') as Opening | null),
    keep: ({ files, ...opening }: Opening) => {
      // A signed URL opens a file without the session, so none is kept.
      const withoutUrls = files.map((file) => ({ ...file, media: [] }));
      orNull((opened) => {
        opened.setItem(key, JSON.stringify({ ...opening, files: withoutUrls } satisfies Opening));
        opened.setItem(visitorKey, opening.session);
      });
    },
    forget: () => {
      orNull((opened) => opened.removeItem(key));
    },
    /** Returns the token of the last session, which may have ended; null: the visitor has not opened the share in this tab. */
    visitor: () => orNull((opened) => opened.getItem(visitorKey)),
  };
}

/** A reply of the service, or status 0 where none came. */
export interface ShareReply {
  readonly status: number;
  /** The code of an error. */
  readonly code: string;
  /** Tells errors of one code apart; empty without one. */
  readonly reason: string;
  readonly data: unknown;
  /** Seconds from `Retry-After`; 0 without one. */
  readonly waitSeconds: number;
  /** Milliseconds by which the clock of this machine is ahead of the service's. */
  readonly aheadMs: number;
}

export type ShareClient = ReturnType<typeof makeShareClient>;

const replyMsMax = 30_000;

/**
 * Makes the client of a share. It sends no credentials and no referrer.
 * @param visitor returns the token of the last session of this visitor; null: there was none
 */
export function makeShareClient(token: string, visitor: () => string | null) {
  const path = `/api/v1/shares/${token}`;
  return {
    /** Asks for the facts that a visitor may know before the password. */
    introduce: () => callShare(path, {}),
    /** @param password null for a share without one */
    verify: (password: string | null, key: string) =>
      callShare(`${path}/verify`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify({ password, share_session: visitor() ?? '' }),
      }),
    renew: (session: string) =>
      callShare(`${path}/media`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ share_session: session }),
      }),
    /** Says that the visitor saves a file of an asset. No reply is needed: the browser saves the file in any case. */
    countSave: (session: string, assetId: string) => {
      void callShare(`${path}/media`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ share_session: session, download: assetId }),
        // The request outlives the page, which the visitor may close.
        keepalive: true,
      });
    },
  };
}

/** Makes a key with which a repeated request counts as one. */
export function makeAttemptKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

async function callShare(path: string, init: RequestInit): Promise<ShareReply> {
  try {
    const response = await fetch(path, {
      ...init,
      ...{ cache: 'no-store', credentials: 'omit', referrerPolicy: 'no-referrer' },
      signal: AbortSignal.timeout(replyMsMax),
    });
    // The clock of this machine may be wrong, so the script computes durations from the service's time.
    const sent = Date.parse(response.headers.get('date') ?? '');
    const aheadMs = Number.isNaN(sent) ? 0 : Date.now() - sent;
    const {
      code = '',
      reason = '',
      data = null,
    } = (await response.json()) as {
      readonly code?: string;
      readonly reason?: string;
      readonly data?: unknown;
    };
    const waitSeconds = Number(response.headers.get('retry-after')) || 0;
    return { status: response.status, code, reason, data, waitSeconds, aheadMs };
  } catch {
    return { status: 0, code: '', reason: '', data: null, waitSeconds: 0, aheadMs: 0 };
  }
}
