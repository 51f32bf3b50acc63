export interface StorageKeys {
  /** The public half: the access key, or the secret_id of COS. */
  readonly id: string;
  readonly secret: string;
  /** The token of temporary credentials. */
  readonly sessionToken?: string;
}

export type StorageMethod = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';

export interface PresignRequest {
  readonly method: StorageMethod;
  /** The whole key in the bucket, decoded, without a leading slash; `''` is the bucket itself. */
  readonly key: string;
  /** Parameters that the URL contains and the signature covers, for example `response-content-type`. */
  readonly query?: Readonly<Record<string, string>>;
  /** By lower-case name; the request must carry exactly these values. The signer adds `host` if it can sign it. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signedAt: Date;
  /** Seconds, 1 to 604,800. */
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
  readonly headers: Readonly<Record<string, string>>;
}

/** Signs requests for one bucket with one key pair, without network and clock. It caches derived keys. */
export interface StorageSigner {
  /** Signs a URL that every holder may use until it expires. @throws RangeError for a life under 1 s or over 7 days */
  presign(request: PresignRequest): string;
  /** Signs a request that this service sends itself, in its headers. */
  sign(request: HeaderRequest): SignedRequest;
}

/** The address of the bucket, see `bucketAddress`. */
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

/** Writes a time as `20260102T030405Z`. */
export function basicTime(time: Date): string {
  return time.toISOString().replace(/[-:]|\.\d{3}/g, '');
}
