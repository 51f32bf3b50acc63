import type { ExecutionContext } from 'ava';
import { type FakeCdn, givenFakeCdn } from '../fakes/fake-cdn.js';
import { type FakeStorage, givenFakeStorage } from '../fakes/fake-storage.js';
import type { VerifiedBucket, VerifyRequest } from './sdk-verifiers.js';

const secret = 'the secret of the bucket';

/** The buckets of the stories. */
export const verifiedBuckets = {
  oss: { bucket: 'rivers-media', region: 'cn-hangzhou', id: 'LTAIEXAMPLE', secret },
  cos: { bucket: 'rivers-1250000000', region: 'ap-beijing', id: 'AKIDEXAMPLE', secret },
} as const satisfies Record<string, VerifiedBucket>;

/** The providers' hosts that the certificate `providers` is for, with any bucket before them. */
export const providerHosts = {
  oss: 'oss-cn-hangzhou.aliyuncs.com',
  cos: 'cos.ap-beijing.myqcloud.com',
} as const;

/**
 * Starts a bucket over TLS that serves only requests which the verifier accepts. Preflights carry no signature
 * (Fetch Standard), so it answers them by its rules.
 */
export async function givenVerifyingBucket(
  t: ExecutionContext,
  verify: VerifyRequest,
  certificate: 'good' | 'providers',
): Promise<{ readonly storage: FakeStorage; readonly port: FakeCdn['port'] }> {
  const storage = await givenFakeStorage(t);
  const { port } = await givenFakeCdn(t, storage, {
    certificate,
    behaviour: (request, response, passOn) => {
      if (request.method === 'OPTIONS' || verify(request)) {
        passOn();
        return;
      }
      response.writeHead(403, { 'content-type': 'application/xml' });
      response.end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
    },
  });
  return { storage, port };
}
