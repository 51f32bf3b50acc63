import { html } from './html.js';

/** Returns the service's URL for a sentence, or `''` if the URL looks like a code. */
export function atSite(publicUrl: string): string {
  return /[0-9]{6}/.test(publicUrl) ? '' : ` at ${publicUrl}`;
}

export function paragraphs(...texts: readonly string[]): string {
  return `${texts.join('\n\n')}\n`;
}

/** @param body HTML */
export function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">${html`<title>${title}</title>`}</head>
<body style="font-family: sans-serif">
${body}
</body></html>
`;
}
