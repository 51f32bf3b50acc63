import { z } from 'zod';

/** What clients read of a page of an upload in parts. */
export const uploadPartsReply = z.object({
  id: z.string(),
  part_size: z.int(),
  part_count: z.int(),
  parts: z.array(z.object({ part_number: z.int(), size: z.int(), url: z.string().nullable() })),
  next_after: z.int().nullable(),
});
export type UploadPartsReply = z.infer<typeof uploadPartsReply>;

/** What clients read of the URL of an upload. */
export const uploadUrlReply = z.object({ url: z.string(), headers: z.record(z.string(), z.string()) });

/** What clients read of the links of an asset. */
export const mediaLinksReply = z.object({ media: z.array(z.object({ kind: z.string(), url: z.string() })) });

/** What visitors read of a share that opened. */
export const openedShareReply = z.object({
  data: mediaLinksReply.extend({ share_session: z.string() }),
});
