import { createHash } from 'node:crypto';
import type { OpenApiDocument, OpenApiOperation } from './openapi.js';
import type { Json } from './openapi-schemas.js';

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1c2430; }
h1 { margin-bottom: 0 } h2 { margin-top: 2.5rem; border-bottom: 1px solid #d5dbe3 }
section { border: 1px solid #d5dbe3; border-radius: 6px; padding: 0 1rem 1rem; margin: 1rem 0 }
code, pre { font: 13px/1.5 ui-monospace, monospace } pre { background: #f4f6f9; padding: .75rem; overflow: auto }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .25rem .5rem; border-top: 1px solid #e6eaf0; vertical-align: top }
.method { background: #1c2430; color: #fff; border-radius: 4px; padding: .1rem .5rem; margin-right: .5rem }
`;

/** The page runs no script and fetches nothing. The policy names its one style sheet by digest. */
export const docsContentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function renderDocsPage(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const tags = [...new Set(operations.flatMap(({ operation }) => operation.tags))];
  const chapters = tags.map((tag) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(tag));
    return `<h2>${escape(tag)}</h2>${own.map((one) => renderOperation({ ...one, shared: document.components.responses })).join('')}`;
  });
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `<section id="schema-${escape(name)}"><h3>${escape(name)}</h3>${json(schema)}</section>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(document.info.title)} API</title><style>${style}</style></head>
<body><h1>${escape(document.info.title)} API</h1><p>Version ${escape(document.info.version)}, also as <a href="/openapi.json">OpenAPI 3.1</a>.</p>
<p>${prose(document.info.description)}</p>
${chapters.join('\n')}
<h2>Schemas</h2>${schemas.join('\n')}
</body></html>
`;
}

function renderOperation({
  path,
  method,
  operation,
  shared,
}: {
  readonly shared: Json;
  readonly path: string;
  readonly method: string;
  readonly operation: OpenApiOperation;
}): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const rows = Object.entries(responses).map(
    ([status, response]) => `<tr><th>${status}</th><td>${prose(describe(response, shared))}</td></tr>`,
  );
  const named = parameters.map((parameter) =>
    typeof parameter['name'] === 'string'
      ? `<tr><th><code>${escape(parameter['name'])}</code></th><td>${escape(String(parameter['in']))}</td></tr>`
      : `<tr><th><code>${escape(String(parameter['$ref']).replace(/^.*\//, ''))}</code></th><td>header</td></tr>`,
  );
  return `<section id="${escape(operationId)}"><h3><span class="method">${method.toUpperCase()}</span><code>${escape(path)}</code></h3>
<p><strong>${prose(summary)}</strong></p><p>${prose(description)}</p>
<table>${named.join('')}</table>${requestBody === undefined ? '' : `<h4>Body</h4>${json(requestBody['content'])}`}
<h4>Replies</h4><table>${rows.join('')}</table></section>`;
}

function describe(response: Json, shared: Json): string {
  const name = String(response['$ref']).replace(/^.*\//, '');
  const found = '$ref' in response ? (shared[name] as Json) : response;
  return String(found['description']);
}

function json(value: unknown): string {
  return `<pre>${escape(JSON.stringify(value, null, 2))}</pre>`;
}

/** Marks up `code`. */
function prose(text: string): string {
  return escape(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
