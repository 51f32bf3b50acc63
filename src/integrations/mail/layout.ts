import { html } from './html.js';

/** Where the service is; left out where it would look like a code. */
export function at(publicUrl: string): string {
  return /[0-9]{6}/.test(publicUrl) ? '' : ` at ${publicUrl}`;
}

/** The text of a mail. */
export function paragraphs(...texts: readonly string[]): string {
  return `${texts.join('\n\n')}\n`;
}

/** The HTML of a mail. @param body HTML */
export function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">${html`<title>${title}</title>`}</head>
<body style="font-family: sans-serif">
${body}
</body></html>
`;
}
