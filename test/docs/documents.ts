import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { generatedParts } from './tables.js';

export const clone = fileURLToPath(new URL('../../../', import.meta.url));

/** The documents for readers: paths from the clone. Design, API, style, measurements and decisions have other rules. */
export const guides: readonly string[] = [
  'README.md',
  ...markdownIn('docs').filter((file) => !/\/(api|style|benchmarks)\.md$/.test(file)),
  ...markdownIn('docs/payments'),
];

/** A generated part: its name, and the text between its markers. */
const part = /<!-- generated: (?<name>[a-z-]+) -->\n(?<text>[^]*?)<!-- end -->/g;

/**
 * Writes every generated part of a document again.
 * @throws Error for a part that no table is made for
 */
export async function regenerate(file: string, markdown: string): Promise<string> {
  const written = markdown.replaceAll(part, (...match) => {
    const { name = '', text = '' } = match.at(-1) as Record<string, string>;
    const make = generatedParts[name];
    if (make === undefined) throw new Error(`${file}: there is no generated part named ${name}`);
    return `<!-- generated: ${name} -->\n\n${make(text)}\n\n<!-- end -->`;
  });
  if (written === markdown) return markdown;
  return format(written, { ...(await resolveConfig(join(clone, file))), parser: 'markdown' });
}

/** The names of a document's generated parts. */
export function partsOf(markdown: string): readonly string[] {
  return [...markdown.matchAll(part)].map((match) => match.groups?.['name'] ?? '');
}

export function read(file: string): string {
  return readFileSync(join(clone, file), 'utf8');
}

function markdownIn(folder: string): readonly string[] {
  return readdirSync(join(clone, folder))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `${folder}/${name}`);
}
