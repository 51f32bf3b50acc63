import type { PreparedBody } from '../../../http/replies/reply.js';
import { preparePage, readPageScript } from '../../../http/pages/prepare-page.js';
import { makeAuditPageBody } from './audit-page-body.js';
import { auditPageStyle } from './audit-page-style.js';

/**
 * Makes the page for auditors: src/areas/audit/README.md#page-for-auditors. It is the same for every caller and holds no data.
 * @param types all types of events
 */
export function makeAuditPage(types: readonly string[]): PreparedBody {
  const script = readPageScript('audit');
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow"><link rel="icon" href="data:,"><title>Audit log</title><style>${auditPageStyle}</style></head>
<body>${makeAuditPageBody(types)}<script type="module">${script}</script></body></html>
`;
  return preparePage({ html, script, style: auditPageStyle, sources: ['img-src data:'] });
}
