import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A sentence, a row of a table, or the heading of an endpoint of the contract. */
export interface Sentence {
  /** The number of its heading, such as `4.1`; `0` for what stands before the first one. */
  readonly section: string;
  readonly text: string;
  /** Whether it is a row of a table: its cells, joined by ` | `. */
  readonly isRow: boolean;
}

const document = fileURLToPath(new URL('../../../../docs/api.md', import.meta.url));

/** All sentences of the contract, in its order. */
export const contract: readonly Sentence[] = sentencesOf(readFileSync(document, 'utf8'));

const known: ReadonlySet<string> = new Set(contract.map(({ section, text }) => `${section} ${text}`));

/**
 * Makes the title of a test that holds sentences of the contract.
 * @throws Error for a sentence that the contract does not have
 */
export function names(section: string, ...texts: readonly string[]): string {
  for (const text of texts) {
    if (!known.has(`${section} ${text}`)) throw new Error(`docs/api.md has no sentence: ${section} ${text}`);
  }
  return `${section} ${texts.join(' ')}`;
}

/** Returns the rows of the table of a section, as cells. */
export function rowsOf(section: string): readonly (readonly string[])[] {
  return contract.filter((one) => one.isRow && one.section === section).map(({ text }) => text.split(' | '));
}

/** Splits a document in Markdown. A sentence ends before a capital letter, a digit, a code or a link. */
export function sentencesOf(markdown: string): readonly Sentence[] {
  const found: Sentence[] = [];
  let section = '0';
  // A heading, a table, a list item or a paragraph.
  for (const block of markdown.replaceAll(/^> ?/gm, '').split(/\n(?=\n|- |\d+\. )/)) {
    const text = block.trim();
    const [, number, title] = /^#+ (?:(\d+(?:\.\d+)?)\.? )?(.*)$/.exec(text) ?? [];
    if (title !== undefined) section = number ?? '0';
    const isTable = text.startsWith('|');
    const texts = isTable ? rowsIn(text) : title === undefined ? partsOf(text) : endpointsIn(title);
    found.push(...texts.map((one) => ({ section, text: one, isRow: isTable })));
  }
  return found;
}

function rowsIn(table: string): readonly string[] {
  // Two lines are the head.
  const rows = table.split('\n').slice(2);
  return rows.map((row) => {
    const cells = row.split('|').slice(1, -1);
    return cells
      .map((cell) => cell.trim())
      .join(' | ')
      .replace(/[ |]+$/, '');
  });
}

function partsOf(paragraph: string): readonly string[] {
  const text = paragraph.replace(/^(?:-|\d+\.) /, '').replaceAll(/\s+/g, ' ');
  // A word with a colon is a label of what follows.
  return text.split(/(?<=\.) (?=[A-Z0-9`[])/).filter((part) => /[ .]/.test(part));
}

/** Only the heading of an endpoint says something of the service. */
function endpointsIn(title: string): readonly string[] {
  return /^[A-Z]+ \//.test(title) ? [title] : [];
}
