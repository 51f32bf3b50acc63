/** Orders that were placed, or reports that the platform made, from `from` on and before `to`. */
export interface ReconcilePeriod {
  readonly from: Date;
  readonly to: Date;
  /** `next` of the call before; null for the first. */
  readonly after: string | null;
}

export interface Reconciled {
  /** Orders that the platform was asked for, or reports that it listed. */
  readonly asked: number;
  /** Those about which the platform told something that the service did not know. */
  readonly reported: number;
  /** Orders of which the platform told nothing, because it refused or failed. The next run asks for them again. */
  readonly failed: readonly string[];
  /** The place from which the next call goes on; null at the end. */
  readonly next: string | null;
}

/** A call begins no question to the platform later than this. */
export const reconcilingMs = 40_000;
