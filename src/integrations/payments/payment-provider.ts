/** A callback as it came in: nothing of it has been believed yet. */
export interface PaymentCallback {
  readonly method: 'GET' | 'POST';
  /** By lower-case name; a header that came twice as HTTP joins it. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The bytes that were sent, at most 256 KiB; empty for GET. */
  readonly body: Buffer;
  /** What follows the `?`, as it was sent. */
  readonly query: string;
  readonly receivedAt: Date;
}

/** An amount in minor units (cents, fen; yen as they are: ISO 4217), and its currency in upper case. */
export interface Money {
  /** A whole number that is safe to count with, never negative. */
  readonly amount: number;
  readonly currency: string;
}

/** Which order a notification is about: ours by its number, or the one that a transaction of the platform belongs to. */
export interface PaymentReference {
  /** What we gave the platform: out_trade_no, client_reference_id, custom_id. */
  readonly orderNumber: string | null;
  /** One payment has one id, whichever of the platform's messages tells of it; refunds and disputes name their payment's. */
  readonly transactionId: string | null;
}

/** What a platform says has happened, in our words. */
export type PaymentFact =
  | { readonly kind: 'pending' | 'failed' | 'expired' | 'canceled' }
  | { readonly kind: 'paid'; readonly money: Money }
  /** All that has been refunded of the transaction so far. */
  | { readonly kind: 'refunded-in-total'; readonly money: Money }
  /** One refund among others, by an id that is its own. */
  | {
      readonly kind: 'refund';
      readonly refundId: string;
      readonly status: 'pending' | 'succeeded' | 'failed';
      readonly money: Money;
    }
  | {
      readonly kind: 'dispute';
      readonly disputeId: string;
      readonly status: 'open' | 'won' | 'lost';
    }
  /** Genuine, well understood, and nothing to us. */
  | { readonly kind: 'nothing' }
  /** Genuine and of a kind that matters, but the field named is missing or makes no sense: for people to look at. */
  | { readonly kind: 'unreadable'; readonly field: string };

/**
 * One thing that a callback tells. A payment, refund or dispute always names its transaction; any other fact (but `nothing` and
 * `unreadable`) names at least one of order and transaction.
 */
export interface PaymentNotification {
  readonly reference: PaymentReference;
  readonly fact: PaymentFact;
  /** The platform's own time of it, where it tells one. */
  readonly at: Date | null;
}

/** A callback whose signature holds. */
export interface VerifiedCallback {
  /** The same for every delivery of the same message, and for no other: what makes a duplicate one. At most 256 characters. */
  readonly key: string;
  /** Whether it is about our account with the platform; where not, it is for people to look at. */
  readonly isOurs: boolean;
  /**
   * One or more, 50 at most; several may be about one order (a refund, and all refunds together). Each may be applied again, and in
   * any order, without anything being counted twice. They hold no names, addresses or other personal data.
   */
  readonly notifications: readonly PaymentNotification[];
  /**
   * SHA-256 (hex) of what counts in it, which is the signed fields that were used: the same for each delivery of the same message; the same key with another digest is a
   * conflict. What platforms renew with each delivery (send time, signature, encryption) does not count.
   */
  readonly digest: string;
}

/** Why a callback is not believed. For the log alone: the sender is told none of it. */
export type Refusal =
  /** A header or parameter of the scheme is missing or has not its shape. */
  | 'malformed'
  /** It names a key or certificate that is not known here. */
  | 'unknown_key'
  | 'wrong_signature'
  /** The signature holds, but it was made too long ago, or in the future: a replay, or somebody's clock is wrong. */
  | 'out_of_time';

export type Verification =
  | { readonly kind: 'verified'; readonly callback: VerifiedCallback }
  /** 401 `invalid_signature`; nothing is written. */
  | { readonly kind: 'refused'; readonly reason: Refusal }
  /** It cannot be judged or opened now, which time or an operator may cure: 503, so that the platform sends it again. */
  | { readonly kind: 'unavailable'; readonly problem: string };

/** What a platform takes for an acknowledgement. All of them want status 200. */
export interface Acknowledgement {
  readonly contentType: string;
  readonly body: string;
}

/** One payment platform. All of it is pure but for keys and certificates that have to be fetched or read. */
export interface PaymentProvider {
  /**
   * Judges the signature over the raw bytes, whatever was sent: it never throws, its work is bounded, and secrets are compared
   * in constant time. Every verified callback is to be recorded under its key, those that tell nothing too: with PayPal, the
   * record is what makes a forged body under a genuine signature a conflict.
   */
  verify(callback: PaymentCallback): Promise<Verification>;
  /** What tells the platform that it need not send again. */
  readonly acknowledgement: Acknowledgement;
  /**
   * Whether a GET with a query is a callback too: it `settles` like a POST; or it only `shows` what a person returns with, is never
   * recorded, and changes nothing. Absent: a query counts for nothing.
   */
  readonly get?: 'settles' | 'shows';
}

/** The usual: any 2xx. */
export const acknowledgedOk: Acknowledgement = {
  contentType: 'application/json; charset=utf-8',
  body: '{"code":"ok","message":"ok"}',
};
