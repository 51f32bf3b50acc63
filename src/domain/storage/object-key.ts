import type { StorageProvider } from './provider.js';

/** Bytes of a whole key at most: the providers' own limits. */
export const objectKeyBytesMax: Readonly<Record<StorageProvider, number>> = { s3: 1024, oss: 1023, cos: 850 };

/** The key in the bucket, which is what gets signed. @param basePath as `checkBasePath` makes it */
export function wholeKey(basePath: string, objectKey: string): string {
  return basePath === '' ? objectKey : `${basePath}/${objectKey}`;
}
