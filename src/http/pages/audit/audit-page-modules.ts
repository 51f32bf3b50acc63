/** The modules of the page for auditors, as `joinPageModules` joins them. */
export const auditPageModules = [
  'elements',
  ...[
    'audit/bytes',
    'audit/tree',
    'audit/entry',
    'audit/tiles',
    'audit/note',
    'audit/kept',
    'audit/verdict',
    'audit/marks',
  ],
  ...['audit/replies', 'audit/fragment', 'audit/service-client', 'audit/alarms', 'audit/checks'],
  ...[
    'audit/sign-in',
    'audit/event-list',
    'audit/stream-view',
    'audit/status-view',
    'audit/verdict-view',
    'audit/main',
  ],
] as const;
