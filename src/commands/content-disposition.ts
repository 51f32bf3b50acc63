export type Disposition = 'inline' | 'attachment';

/** What a browser shows, or plays, without running anything that is in it. */
const shown = /^(?:(?:audio|image|video)\/[^;]+|text\/(?:plain|csv|vtt)|application\/pdf)$/;
/** Documents that may carry scripts, whatever they call themselves. */
const markup = /xml|svg|html/;

/** Whether an object of this media type, parameters left aside, is harmless in a browser's window. */
export function isShownSafely(mediaType: string): boolean {
  const essence = (mediaType.split(';')[0] ?? '').trim().toLowerCase();
  return shown.test(essence) && !markup.test(essence);
}

/**
 * `Content-Disposition` with a file name (RFC 6266): in ASCII for old clients, and in full as RFC 8187 encodes it.
 * Only what is shown safely is ever `inline`.
 */
export function contentDisposition(
  wanted: Disposition,
  file: { readonly name: string; readonly mediaType: string },
): string {
  const disposition = isShownSafely(file.mediaType) ? wanted : 'attachment';
  const name = file.name.replace(unfitForFiles, '_');
  // A percent sign would be taken for an encoding by some.
  const ascii = name.replace(/[^\x20-\x7e]|["%]/gu, '_');
  return `${disposition}; filename="${ascii}"; filename*=UTF-8''${encodeRfc8187(name)}`;
}

/** Separators of paths, what is reserved on one system or another, and what hides or turns round what follows it. */
const unfitForFiles = /[/\\:*?<>|\p{Cc}\p{Cs}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/** All but `attr-char` (RFC 8187, 3.2.1), percent-encoded. */
function encodeRfc8187(text: string): string {
  return encodeURIComponent(text).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

const extension = /\.[A-Za-z0-9]{1,10}$/;
const stemBytesMax = 150;

/**
 * The name to save a file under: the asset's, with the extension of the object's key, and for a rendition its kind.
 * @param own key of the asset's own file
 * @param rendition null for the asset's own file
 */
export function fileName(
  name: string,
  own: string,
  rendition: { readonly kind: string; readonly object_key: string } | null,
): string {
  const stem = cut(withoutEnding(name, extensionOf(own)), stemBytesMax);
  return rendition === null
    ? stem + extensionOf(own)
    : `${stem}-${rendition.kind}${extensionOf(rendition.object_key)}`;
}

function extensionOf(key: string): string {
  return extension.exec(key)?.[0] ?? '';
}

function withoutEnding(name: string, ending: string): string {
  const has = ending !== '' && name.toLowerCase().endsWith(ending.toLowerCase());
  return has && name.length > ending.length ? name.slice(0, -ending.length) : name;
}

/** File systems take 255 bytes; characters stay whole. */
function cut(text: string, bytesMax: number): string {
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > bytesMax) break;
    kept += character;
  }
  return kept;
}
