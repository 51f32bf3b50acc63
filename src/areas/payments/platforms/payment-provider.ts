import type { PaymentNotification } from '../domain/fact.js';

/** A received callback. Nothing in it is verified. */
export interface PaymentCallback {
  readonly method: 'GET' | 'POST';
  /** The headers by lower-case name; a repeated header in HTTP's joined form. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The unchanged bytes, at most 256 KiB; empty for GET. */
  readonly body: Buffer;
  /** The unchanged text after the `?`. */
  readonly query: string;
  readonly receivedAt: Date;
}

/** A callback with a valid signature. */
export interface VerifiedCallback {
  /** Identifies duplicates: the same for every delivery of a message, else different. At most 256 characters. */
  readonly key: string;
  /** Whether the callback concerns our account. If not, an operator must look at it. */
  readonly isOurs: boolean;
  /**
   * One to 50, perhaps about one order (a refund, and all refunds together). Each may be applied again and in any
   * order; nothing counts twice. They contain no personal data.
   */
  readonly notifications: readonly PaymentNotification[];
  /**
   * SHA-256 (hex) of the signed fields that the service uses, without fields that platforms renew with each delivery
   * (send time, signature, encryption). The same key with another digest is a conflict.
   */
  readonly digest: string;
}

/** Why a callback is refused. Only the log gets the reason, not the sender. */
export type Refusal =
  /** A header or parameter of the scheme is missing or malformed. */
  | 'malformed'
  /** It names a key or certificate that is not known here. */
  | 'unknown_key'
  | 'wrong_signature'
  /** The signature is valid, but its time is too old or in the future: a replay, or a wrong clock. */
  | 'out_of_time';

export type Verification =
  | { readonly kind: 'verified'; readonly callback: VerifiedCallback }
  /** 401 `invalid_signature`; the service writes nothing. */
  | { readonly kind: 'refused'; readonly reason: Refusal }
  /** Time or an operator may cure the cause. The reply is 503, so that the platform repeats the callback. */
  | { readonly kind: 'unavailable'; readonly problem: string };

export type Verify = (callback: PaymentCallback) => Promise<Verification>;

/** All platforms require status 200. */
export type Acknowledgement = { readonly contentType: string; readonly body: string };

/** What the service asks of a platform that is set up. It is pure except for keys and certificates that it fetches or reads. */
export interface PaymentProvider {
  /**
   * Verifies the signature over the raw bytes. It never throws, does bounded work, and compares secrets in constant
   * time. Record each verified callback under its key, even without a fact: with PayPal, the record makes a forged body
   * under a genuine signature a conflict.
   */
  readonly verify: Verify;
  readonly acknowledgement: Acknowledgement;
  /**
   * Whether a GET with a query is a callback. `settles`: like a POST. `shows`: a page that a buyer returns to, which
   * the service never records and which changes nothing. Absent: a query has no meaning.
   */
  readonly get?: 'settles' | 'shows';
}

/** The acknowledgement of platforms that accept any 2xx. */
export const acknowledgedOk: Acknowledgement = {
  contentType: 'application/json; charset=utf-8',
  body: '{"code":"ok","message":"ok"}',
};

/**
 * The acknowledgement of platforms that search the whole body for this word and repeat the callback after any other. No error of
 * the route may contain it.
 */
export const acknowledgedSuccess: Acknowledgement = {
  contentType: 'text/plain; charset=utf-8',
  body: 'success',
};
