import { z } from 'zod';

/** Alibaba Cloud OSS, Tencent Cloud COS, Amazon S3 and compatible services. */
export const storageProvider = z.enum(['oss', 'cos', 's3']);
export type StorageProvider = z.infer<typeof storageProvider>;
