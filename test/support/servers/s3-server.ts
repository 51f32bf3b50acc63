import { randomBytes } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { bucketAddress } from '../../../src/areas/storages/domain/bucket/bucket-address.js';
import { makeS3Signer } from '../../../src/areas/storages/bucket/signing/s3-signer.js';
import type { StorageMethod } from '../../../src/areas/storages/bucket/signing/signer.js';

/** An S3 server of another vendor, and a key pair that may create buckets on it. */
export interface S3Server {
  /** An origin. Without TLS it has an IP address. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** The address ranges that the service may connect to. */
  readonly allowedCidrs: string;
  /** Whether its buckets end with it; false when left out. */
  readonly isTransient?: boolean;
}

/** The server that `S3_ENDPOINT`, `S3_REGION`, `S3_ACCESS_KEY` and `S3_SECRET_KEY` name, if any. */
export const s3Server: S3Server | undefined = readServer(process.env);

function readServer(environment: NodeJS.ProcessEnv): S3Server | undefined {
  const endpoint = environment['S3_ENDPOINT'] ?? '';
  if (endpoint === '') return undefined;
  const required = (name: string): string => {
    const value = environment[name] ?? '';
    if (value === '') throw new Error(`S3_ENDPOINT is set, so ${name} must be, too`);
    return value;
  };
  return {
    endpoint,
    region: required('S3_REGION'),
    accessKey: required('S3_ACCESS_KEY'),
    secretKey: required('S3_SECRET_KEY'),
    allowedCidrs: environment['S3_ALLOWED_CIDRS'] ?? '127.0.0.0/8',
  };
}

export interface TestBucket {
  readonly name: string;
  /** Stores an object without the service. */
  readonly put: (key: string, body: Buffer) => Promise<void>;
}

/** Makes a separate bucket for the test, which empties and deletes it at its end. */
export async function makeBucket(t: ExecutionContext, server: S3Server): Promise<TestBucket> {
  const bucket = `stowage-test-${randomBytes(8).toString('hex')}`;
  const { endpoint, region, accessKey, secretKey } = server;
  const address = bucketAddress({ provider: 's3', endpoint, bucket, region });
  const signer = makeS3Signer(address, { id: accessKey, secret: secretKey });
  const send = async (method: StorageMethod, key: string, body?: Buffer): Promise<string> => {
    const { url, headers } = signer.sign({ method, key, signedAt: new Date() });
    const reply = await fetch(url, {
      ...{ method, headers, signal: AbortSignal.timeout(600_000) },
      ...(body === undefined ? {} : { body }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${bucket}/${key}: ${reply.status} ${text}`);
    return text;
  };
  await send('PUT', '');
  t.teardown(async () => {
    if (server.isTransient === true) return;
    const list = async () => [...(await send('GET', '')).matchAll(/<Key>([^<]*)<\/Key>/g)];
    // A page of the list has 1,000 keys.
    for (let keys = await list(); keys.length > 0; keys = await list()) {
      for (const [, key = ''] of keys) await send('DELETE', unescapeXml(key));
    }
    await send('DELETE', '');
  });
  return {
    name: bucket,
    put: async (key, body) => {
      await send('PUT', key, body);
    },
  };
}

/** Says whether the server has uploads in parts. Swift has them only with its middleware `slo`. */
export async function knowsParts({ endpoint, region, accessKey, secretKey }: S3Server): Promise<boolean> {
  const address = bucketAddress({ provider: 's3', endpoint, bucket: 'stowage-test-parts', region });
  const signer = makeS3Signer(address, { id: accessKey, secret: secretKey });
  const { url, headers } = signer.sign({
    method: 'GET',
    key: '',
    query: { uploads: '' },
    signedAt: new Date(),
  });
  const { status } = await fetch(url, { headers, signal: AbortSignal.timeout(600_000) });
  return status !== 501;
}

function unescapeXml(text: string): string {
  const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return text.replace(/&(?:#(\d+)|(\w+));/g, (whole, code: string | undefined, name: string | undefined) =>
    code === undefined ? (named[name ?? ''] ?? whole) : String.fromCodePoint(Number(code)),
  );
}
