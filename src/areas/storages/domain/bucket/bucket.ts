import { isIP } from 'node:net';
import { invalid } from '../../../../validation/field-problems.js';
import type { StorageProvider } from './region.js';

/**
 * Checks a bucket's name by the provider's rules. @throws CommandRejected invalid_request
 * - oss: 3 to 63 of a-z 0-9 -, no hyphen at the ends (Alibaba Cloud OSS, "Bucket naming conventions")
 * - cos: a name of 1 to 50 of the same, then - and the account's APPID (Tencent Cloud COS, "Bucket overview")
 * - s3: 3 to 63 of letters, digits, dots, hyphens and underscores, a letter or digit at the ends, no two dots in a
 *   row, not an IPv4 address (Amazon S3, "Bucket naming rules"; capitals and underscores exist on older buckets and
 *   on compatible services)
 */
export function checkBucket(provider: StorageProvider, bucket: string): string {
  switch (provider) {
    case 'oss':
      if (/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(bucket)) return bucket;
      return invalid(
        'bucket',
        'must be 3 to 63 lower-case letters, digits and hyphens, no hyphen at the ends',
      );
    case 'cos':
      if (/^[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?-[0-9]{1,12}$/.test(bucket)) return bucket;
      return invalid(
        'bucket',
        'must be the name of 1 to 50 lower-case letters, digits and hyphens, then - and the APPID',
      );
    case 's3':
      if (/^[A-Za-z0-9](?!.*\.\.)[A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/.test(bucket) && isIP(bucket) === 0)
        return bucket;
      return invalid(
        'bucket',
        'must be 3 to 63 letters, digits, dots, hyphens and underscores, a letter or digit at the ends',
      );
  }
}
