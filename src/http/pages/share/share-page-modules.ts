/** The modules of the page that opens shares, as `joinPageModules` joins them. */
export const sharePageModules = [
  'elements',
  ...[
    'share/texts',
    'share/formats',
    'share/share-reply',
    'share/share-client',
    'share/kept-session',
    'share/accent',
    'share/brand',
  ],
  ...[
    'share/media-policy',
    'share/candidates',
    'share/web-vtt',
    'share/subtitles',
    'share/facts',
    'share/icons',
    'share/player',
    'share/stage',
  ],
  ...[
    'share/actions',
    'share/gallery',
    'share/countdown',
    'share/notices',
    'share/password-form',
    'share/renewal',
    'share/opened',
    'share/visit',
  ],
] as const;
