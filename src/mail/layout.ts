import { escapeMarkup } from '../validation/text.js';
import { onOneLine } from './mailer.js';

/** Marks that change the direction of the text after them. A name with one could rearrange the sentence around it. */
const bidiMarks = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;
/** Mail programs recognise links and telephone numbers by these. An invisible word joiner after each breaks them up. */
const joints = /[.:/@+\d]/g;
const wordJoiner = '\u2060';
/** A longer text would have room for another message. */
const lengthMax = 40;

/**
 * Returns a text that a user has typed for the body of a mail: on one line, in one direction, at most 40 characters, and
 * with no part that becomes a link, a telephone number or a code. No subject contains such a text.
 */
export function asGiven(text: string): string {
  const characters = Array.from(withoutMarks(text));
  const cut = characters.length > lengthMax ? [...characters.slice(0, lengthMax - 1), '…'] : characters;
  return brokenUp(cut.join(''));
}

/**
 * Returns a message that a user has typed for the body of a mail: each line after `> `, as a quotation, so that no line looks
 * like one of the service. As in `asGiven`, no part becomes a link, a telephone number or a code.
 */
export function asQuoted(text: string): string {
  const lines = text.split(/\r\n|[\r\n\u2028\u2029]/u);
  return lines.map((line) => `> ${brokenUp(withoutMarks(line))}`.trimEnd()).join('\n');
}

function withoutMarks(text: string): string {
  return onOneLine(text).replace(bidiMarks, '');
}

function brokenUp(text: string): string {
  return text.replace(joints, `$&${wordJoiner}`);
}

export function html(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return parts.reduce((page, part, index) => page + escapeMarkup(values[index - 1] ?? '') + part);
}

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
