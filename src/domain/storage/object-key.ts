import type { StorageProvider } from './provider.js';

/** The providers' limits of a whole key, in bytes. */
export const objectKeyBytesMax: Readonly<Record<StorageProvider, number>> = { s3: 1024, oss: 1023, cos: 850 };

/** Returns the key in the bucket, which is signed. @param basePath as `checkBasePath` returns it */
export function wholeKey(basePath: string, objectKey: string): string {
  return basePath === '' ? objectKey : `${basePath}/${objectKey}`;
}
