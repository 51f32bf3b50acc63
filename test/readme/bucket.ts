import { randomBytes } from 'node:crypto';
import { bucketAddress } from '../../src/areas/storages/domain/bucket/bucket-address.js';
import { makeS3Signer } from '../../src/areas/storages/bucket/signing/s3-signer.js';
import type { StorageMethod } from '../../src/areas/storages/bucket/signing/signer.js';

/** A bucket for one document, and the variables by which its commands find it. */
interface ReaderBucket {
  readonly variables: Readonly<Record<string, string>>;
  /** Deletes its objects, and the bucket. */
  remove(): Promise<void>;
}

const requestMsMax = 600_000;

/**
 * Makes a bucket on the server that the environment names, as a reader of the document does.
 * @throws Error when a variable is missing, or the server refuses
 */
export async function makeReaderBucket(environment: NodeJS.ProcessEnv): Promise<ReaderBucket> {
  const required = (name: string): string => {
    const value = environment[name] ?? '';
    if (value === '') throw new Error(`S3_ENDPOINT is set, so ${name} must be set too`);
    return value;
  };
  const [endpoint, region] = [required('S3_ENDPOINT'), required('S3_REGION')];
  const [id, secret] = [required('S3_ACCESS_KEY'), required('S3_SECRET_KEY')];
  const bucket = `stowage-readme-${randomBytes(8).toString('hex')}`;
  const address = bucketAddress({ provider: 's3', endpoint, bucket, region });
  const signer = makeS3Signer(address, { id, secret });
  const send = async (method: StorageMethod, key: string): Promise<string> => {
    const { url, headers } = signer.sign({ method, key, signedAt: new Date() });
    const reply = await fetch(url, { method, headers, signal: AbortSignal.timeout(requestMsMax) });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${bucket}/${key}: ${reply.status} ${text}`);
    return text;
  };
  await send('PUT', '');
  return {
    variables: {
      S3_ENDPOINT: endpoint,
      S3_REGION: region,
      S3_ACCESS_KEY: id,
      S3_SECRET_KEY: secret,
      S3_BUCKET: bucket,
    },
    remove: async () => {
      // The keys that the documents use need no unescaping.
      for (const [, key = ''] of (await send('GET', '')).matchAll(/<Key>([^<]*)<\/Key>/g)) {
        await send('DELETE', key);
      }
      await send('DELETE', '');
    },
  };
}
