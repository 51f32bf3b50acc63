import { fileURLToPath } from 'node:url';
import { bucketAddress } from '../../src/areas/storages/domain/bucket/bucket-address.js';
import { type StorageProvider, storageProvider } from '../../src/areas/storages/domain/bucket/bucket.js';
import { makeStorageUrls, type StorageUrls } from '../../src/areas/storages/bucket/signing/media-urls.js';
import { installPackages, run, withScratchFolder } from './install.js';
import { compare, type Comparison } from './measure.js';

const rounds = 5;
const roundMs = 1_000;
/** The goal for signing (src/areas/storages/README.md#signing): URLs a second on one core. */
const goal = 8_000;

/** The SDKs with which `scripts/make-signing-vectors.mjs` compares signatures. The project does not depend on them. */
const sdks = [
  '@aws-sdk/client-s3@3.1169.0',
  '@aws-sdk/s3-request-presigner@3.1162.0',
  'ali-oss@6.23.0',
  'cos-nodejs-sdk-v5@3.0.0',
];
const sdkNames: Readonly<Record<StorageProvider, string>> = { s3: 'AWS SDK', oss: 'ali-oss', cos: 'COS SDK' };
const regions: Readonly<Record<StorageProvider, string>> = {
  s3: 'eu-west-1',
  oss: 'cn-hangzhou',
  cos: 'ap-beijing',
};

/**
 * Compares media URLs that one core signs with the goal, with a new signer for each as in a request, and with the SDKs,
 * where both keep their signer.
 */
export async function benchPresigning(): Promise<readonly Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const provider of storageProvider.options) {
    const subject = {
      what: `presigned URLs, ${provider}, a signer each`,
      anchor: 'the goal',
      unit: 'URLs/s',
    };
    comparisons.push(
      await compare({ ...subject, goal: { atLeast: 1 } }, rounds, {
        ours: () => Promise.resolve(signFor(() => makeUrls(provider))),
        anchor: () => Promise.resolve(goal),
      }),
      await compare({ ...subject, what: `part URLs, ${provider}`, goal: { atLeast: 1 } }, rounds, {
        ours: () => Promise.resolve(signParts(makeUrls(provider))),
        anchor: () => Promise.resolve(goal),
      }),
    );
  }
  return withScratchFolder(async (folder) => {
    if (!(await installPackages(folder, sdks))) {
      process.stdout.write('SKIPPED the comparison with the SDKs: they could not be installed\n');
      return comparisons;
    }
    for (const provider of storageProvider.options) {
      const urls = makeUrls(provider);
      const subject = { what: `presigned URLs, ${provider}`, anchor: sdkNames[provider], unit: 'URLs/s' };
      comparisons.push(
        await compare({ ...subject, goal: { atLeast: 5 } }, rounds, {
          ours: () => Promise.resolve(signFor(() => urls)),
          anchor: () => signWithSdk(folder, provider),
        }),
      );
    }
    return comparisons;
  });
}

function makeUrls(provider: StorageProvider): StorageUrls {
  const region = regions[provider];
  const address = bucketAddress({ provider, endpoint: '', bucket: 'media-1250000000', region });
  const delivery = { ...address, cdnDomain: '', mode: 'origin' } as const;
  return makeStorageUrls(delivery, { id: 'an-access-key', secret: 'a secret' });
}

/** Returns the number of URLs a second. */
function signFor(urlsOf: () => StorageUrls): number {
  const query = {
    'response-content-type': 'video/mp4',
    'response-content-disposition': `inline; filename="K_ln.mp4"; filename*=UTF-8''K%C3%B6ln.mp4`,
  };
  const signedAt = new Date();
  const began = performance.now();
  let signed = 0;
  while (performance.now() - began < roundMs) {
    signed += 1;
    urlsOf().mediaUrl({ key: `videos/2026/${signed}.mp4`, query, signedAt, expiresInSeconds: 1_200 });
  }
  return (signed * 1_000) / (performance.now() - began);
}

/** Returns the number of part URLs a second, with one signer as in a page of parts. */
function signParts(urls: StorageUrls): number {
  const bucketUploadId = 'VXBsb2FkSWRfb2ZfYV9idWNrZXQ+/=';
  const signedAt = new Date();
  const request = { key: 'videos/2026/rhine.mp4', bucketUploadId, size: 16_777_216, signedAt };
  const began = performance.now();
  let signed = 0;
  while (performance.now() - began < roundMs) {
    signed += 1;
    urls.partUrl({ ...request, partNumber: (signed % 10_000) + 1, expiresInSeconds: 3_600 });
  }
  return (signed * 1_000) / (performance.now() - began);
}

async function signWithSdk(folder: string, provider: StorageProvider): Promise<number> {
  const script = fileURLToPath(new URL('../../../scripts/presign-with-sdks.mjs', import.meta.url));
  const args = ['--no-warnings', script, folder, provider, String(roundMs)];
  const { stdout } = await run(process.execPath, args, { timeout: 60_000 });
  return Number(stdout.trim().split('\n').at(-1));
}
