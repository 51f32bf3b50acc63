/* global setTimeout */
/**
 * Uploads a file in parts, and goes on where an earlier attempt ended. Returns the asset.
 * file: a File or Blob. asset: the path of the asset, /api/v1/projects/…/assets/….
 * call: async (method, path, body) => the JSON reply of the service; it throws for an error reply.
 */
export async function uploadInParts(
  file,
  asset,
  call,
  { atOnce = 3, triesMax = 5, onProgress = () => {}, signal } = {},
) {
  const { size } = await call('GET', asset);
  // The parts have the size of the asset: of a longer file, the bucket would get the beginning alone.
  if (file.size !== size) throw new Error(`the file has ${file.size} bytes, its asset ${size}`);
  const first = await call('POST', `${asset}/uploads`, {});
  const upload = `${asset}/uploads/${first.id}`;
  let stored = 0;

  for (let page = first; page !== null; page = await pageAfter(page)) {
    const waiting = page.parts.filter(({ url }) => url !== null);
    for (const { url, size } of page.parts) if (url === null) stored += size;
    onProgress(stored, file.size);
    const work = async () => {
      for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
        await put(part).catch((error) => {
          // The other workers begin no further part.
          waiting.length = 0;
          throw error;
        });
        stored += part.size;
        onProgress(stored, file.size);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }
  return call('POST', `${upload}/complete`, {});

  async function pageAfter({ next_after: after }) {
    return after === null ? null : call('GET', `${upload}?after=${after}`);
  }

  async function put({ part_number: number, size, url }) {
    const from = (number - 1) * first.part_size;
    const body = file.slice(from, from + size);
    for (let tries = 1; ; tries += 1) {
      // A network that ends makes fetch throw.
      const reply = await fetch(url, { method: 'PUT', body, signal }).catch((error) => error);
      if (reply.ok) return;
      signal?.throwIfAborted();
      if (tries >= triesMax)
        throw new Error(`part ${number} was not stored: ${reply.status ?? reply.message}`);
      await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** tries));
      // The URL may have expired, and the part may have arrived although its reply was lost.
      const [again] = (await call('GET', `${upload}?after=${number - 1}&limit=1`)).parts;
      if (again.url === null) return;
      url = again.url;
    }
  }
}
