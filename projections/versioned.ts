/** A resource as HTTP shows it, with the revision of its own stream (for `ETag` and `If-Match`). */
export interface Versioned<Resource> {
  readonly revision: bigint;
  readonly resource: Resource;
}

/** A page of a list: what follows the id `after`, at most `limit`. */
export interface Page {
  readonly after?: string;
  readonly limit: number;
}
