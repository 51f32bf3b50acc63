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

/** Endings that say the format of a file. Other endings, as in `J.Smith` and `v1.2`, may be a part of its title. */
const formats = new Set(
  [
    '3g2 3gp aac ac3 aif aiff amr ape avi f4v flac flv m2ts m4a m4v mid midi mka mkv mov mp3 mp4 mpeg mpg mts mxf oga ogg ogv',
    'opus ra ts vob wav webm wma wmv ass srt ssa sub ttml vtt m3u8 mpd',
    'ai apng arw avif bmp cr2 cr3 dng emf eps gif hdr heic heif ico indd jfif jp2 jpeg jpg jxl nef orf png psb psd raf raw rw2',
    'sketch svg tga tif tiff webp wmf xcf',
    'csv doc docm docx dot dotx epub htm html key log md mobi numbers odg odp ods odt pages pdf potx pps ppsx ppt pptm pptx ps',
    'rtf tex tsv txt vsdx xls xlsb xlsm xlsx',
    '7z apk bin br bz2 cab deb dmg exe gz img ipa iso jar lz4 msi pkg rar rpm tar tgz war xz zip zst',
    'blend c cpp cs css dae dwg dxf fbx glb gltf go h ics java js json jsx kml kmz less obj otf parquet php py rb rs scss sh',
    'sql sqlite step stl stp tmx toml tsx ttf usdz vcf woff woff2 xml yaml yml',
  ].flatMap((line) => line.split(' ')),
);
const ending = /\.([A-Za-z0-9]{1,10})$/;
const stemBytesMax = 150;

/**
 * Returns the name to save a file under. A name that ends like the key, or like a format, stays as it is. Any other name gets
 * the ending of the key. The file of a rendition has its kind and the ending of the rendition's key.
 * @param own the key of the asset's own file
 * @param rendition null for the asset's own file
 */
export function fileName(
  name: string,
  own: string,
  rendition: { readonly kind: string; readonly object_key: string; readonly language?: string | null } | null,
): string {
  const given = endingOf(name, endingOfKey(own));
  const stem = cut(name.slice(0, name.length - given.length), stemBytesMax);
  if (rendition !== null) {
    const { kind, language, object_key } = rendition;
    const marks = [stem === '' ? name : stem, kind, language ?? ''].filter((part) => part !== '');
    return marks.join('-') + endingOfKey(object_key);
  }
  return stem + (given === '' ? endingOfKey(own) : given);
}

/** Returns the ending of a name that says its format, with the dot; `''` where there is none. */
function endingOf(name: string, ofKey: string): string {
  const [found, format = ''] = ending.exec(name) ?? [''];
  return formats.has(format.toLowerCase()) || found.toLowerCase() === ofKey.toLowerCase() ? found : '';
}

function endingOfKey(key: string): string {
  return ending.exec(key)?.[0] ?? '';
}

/** Cuts a text to a size in bytes and keeps characters whole. File systems accept names of 255 bytes. */
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
