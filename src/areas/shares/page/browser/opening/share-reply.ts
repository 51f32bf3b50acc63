/** A signed URL of one file of an asset, as the service returns it. */
export interface MediaFile {
  /** `original`, or the kind of the rendition. */
  readonly kind: string;
  readonly url: string;
  /** A URL that shows a document in the browser, where `url` saves it; null or absent where there is none. */
  readonly inline_url?: string | null;
  readonly media_type: string;
  readonly expires_at: string;
  /** The language of subtitles. */
  readonly language?: string | null;
}

/** An asset of the share with its files. */
export interface SharedFile {
  readonly id: string;
  readonly name: string;
  readonly media_type: string;
  readonly size: number;
  readonly media: readonly MediaFile[];
}

export interface SharedTerms {
  /** The title of the share, or the name of its asset. */
  readonly name: string;
  readonly title?: string | null;
  readonly note?: string | null;
  /** The nickname of the sharer; null or absent where it is not shown. */
  readonly sender?: string | null;
  readonly expires_at: string | null;
  readonly remaining_uses: number | null;
  readonly allow_download: boolean;
}

/** An opened share. */
export interface Opening {
  readonly project: Introduction['project'] | null;
  readonly session: string;
  readonly share: SharedTerms;
  readonly files: readonly SharedFile[];
}

/** The facts of a share before its password. */
export interface Introduction {
  readonly password_required: boolean;
  /** Opening it counts, so a person asks for it: scanners of mail load pages and run their scripts. */
  readonly limited_uses: boolean;
  readonly project: { readonly name: string; readonly accent_color: string | null };
}

interface OpeningReply {
  readonly share: SharedTerms;
  readonly assets: readonly SharedFile[];
  readonly share_session: string;
}

/** Returns the opening from the data of a reply of `verify`. @param project what the introduction said */
export function openingOf(data: unknown, project: Opening['project']): Opening {
  const { share, assets: files, share_session: session } = data as OpeningReply;
  return { project, session, share, files };
}

/** Returns the opening with the fresh URLs from the data of a reply of `media`. Files that the share has lost drop out. */
export function renewedOpening(opening: Opening, data: unknown): Opening {
  const { assets } = data as { readonly assets: readonly Pick<SharedFile, 'id' | 'media'>[] };
  const files = opening.files.flatMap((file) => {
    const found = assets.find(({ id }) => id === file.id);
    return found === undefined ? [] : [{ ...file, media: found.media }];
  });
  return { ...opening, files };
}
