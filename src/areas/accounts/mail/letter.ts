import { html, page, paragraphs } from '../../../mail/layout.js';
import type { MailMessage } from '../../../mail/mailer.js';

/** A paragraph that is not written alike in both forms of a mail. `html`: a whole element. */
interface Paragraph {
  readonly text: string;
  readonly html: string;
}

/** Writes a mail, as text and as HTML. */
export function letter(subject: string, ...parts: readonly (string | Paragraph)[]): MailMessage {
  const written = parts.map((part) =>
    typeof part === 'string' ? { text: part, html: html`<p>${part}</p>` } : part,
  );
  return {
    subject,
    text: paragraphs(...written.map(({ text }) => text)),
    html: page(subject, written.map((part) => part.html).join('\n')),
  };
}

/** Makes the paragraph of a sentence that leads to the URL after it. */
export function linked(sentence: string, url: string): Paragraph {
  return { text: `${sentence}\n${url}`, html: html`<p>${sentence} <a href="${url}">${url}</a></p>` };
}
