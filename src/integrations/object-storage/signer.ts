/** A key pair of a provider. */
export interface StorageKeys {
  /** The public half: access key, or COS's secret_id. */
  readonly id: string;
  readonly secret: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string;
}

export type StorageMethod = 'GET' | 'HEAD' | 'PUT' | 'DELETE';

export interface PresignRequest {
  readonly method: StorageMethod;
  /** The whole key in the bucket, decoded, without a leading slash; `''` is the bucket itself. */
  readonly key: string;
  /** Parameters that the URL carries and the signature covers, such as `response-content-type`. */
  readonly query?: Readonly<Record<string, string>>;
  /** Headers, by lower-case name, that the request must carry exactly so. `host` is covered by itself where it can be. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The beginning of the URL's life. */
  readonly signedAt: Date;
  /** The length of it: 1 to 604,800. */
  readonly expiresInSeconds: number;
}

export interface HeaderRequest {
  readonly method: StorageMethod;
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signedAt: Date;
}

export interface SignedRequest {
  readonly url: string;
  /** All headers to send. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Signs requests for one bucket with one key pair. Pure: no network, no clock. Derived keys are kept while it lives. */
export interface StorageSigner {
  /** A URL that whoever has it may use until it expires. @throws RangeError for a life of no length, or of over 7 days */
  presign(request: PresignRequest): string;
  /** A request of our own, signed in its headers. */
  sign(request: HeaderRequest): SignedRequest;
}

/** Where the bucket is: see `bucketAddress`. */
export interface SignerAddress {
  readonly protocol: 'https:' | 'http:';
  readonly host: string;
  readonly pathPrefix: string;
  readonly bucket: string;
  readonly region: string;
}

const lifeSecondsMax = 604_800;

/** @throws RangeError */
export function checkLife(seconds: number): void {
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > lifeSecondsMax) {
    throw new RangeError(`a signed URL lives 1 to ${lifeSecondsMax} seconds`);
  }
}

/** `20260102T030405Z`. */
export function basicTime(time: Date): string {
  return time.toISOString().replace(/[-:]|\.\d{3}/g, '');
}
