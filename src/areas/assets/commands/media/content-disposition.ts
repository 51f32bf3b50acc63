export type DispositionType = 'inline' | 'attachment';

/** Types that a browser shows or plays without running their content. */
const passive = /^(?:(?:audio|image|video)\/[^;]+|text\/(?:plain|csv|vtt)|application\/pdf)$/;
/** Types of documents that may contain scripts. */
const markup = /xml|svg|html/;

/** Returns whether an object of this media type is harmless in a browser. Parameters do not count. */
export function isShownSafely(mediaType: string): boolean {
  const essence = (mediaType.split(';')[0] ?? '').trim().toLowerCase();
  return passive.test(essence) && !markup.test(essence);
}

/**
 * Returns a `Content-Disposition` (RFC 6266) with the file name in ASCII, for old clients, and as RFC 8187 encodes it.
 * Only a type that is shown safely can be `inline`.
 */
export function contentDisposition(
  wanted: DispositionType,
  file: { readonly name: string; readonly mediaType: string },
): string {
  const disposition = isShownSafely(file.mediaType) ? wanted : 'attachment';
  const name = file.name.replace(unsafeInNames, '_');
  // Some clients take a percent sign for an encoding.
  const ascii = name.replace(/[^\x20-\x7e]|["%]/gu, '_');
  return `${disposition}; filename="${ascii}"; filename*=UTF-8''${encodeRfc8187(name)}`;
}

/** Path separators, characters that a system reserves, and those that hide text or turn its direction. */
const unsafeInNames = /[/\\:*?<>|\p{Cc}\p{Cs}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/** Percent-encodes all characters but `attr-char` (RFC 8187, 3.2.1). */
function encodeRfc8187(text: string): string {
  return encodeURIComponent(text).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
