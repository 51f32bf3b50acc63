import { readdirSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { packageFile } from '../../../package-files.js';
import type { PageLanguage } from './negotiate-language.js';

/** The texts of the page of shares in one language, by key. */
export interface ShareTexts extends PageLanguage {
  readonly texts: Readonly<Record<string, string>>;
}

/** The build copies the folder `texts` to it. */
const folder = packageFile('dist/pages/texts/');
const fileSchema = z.record(z.string(), z.string().min(1)).and(z.object({ lang: z.string() }));

/**
 * Reads the languages of the page: each file of the folder `texts` is one, named by its language subtag (`de.json`). English
 * comes first.
 * @throws Error when a file lacks a text of English or has others, and when there is no English
 */
export function readShareTexts(): readonly [ShareTexts, ...ShareTexts[]] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const languages = names.sort().map((name): ShareTexts => {
    const { lang, ...texts } = fileSchema.parse(JSON.parse(readFileSync(new URL(name, folder), 'utf8')));
    return { language: name.slice(0, -'.json'.length), tag: lang, texts };
  });
  const english = languages.find(({ language }) => language === 'en');
  if (english === undefined) throw new Error('the folder of texts has no en.json');
  const others = languages.filter((one) => one !== english);
  for (const { language, texts } of others) {
    const different = differenceOf(Object.keys(english.texts), Object.keys(texts));
    if (different.length > 0)
      throw new Error(`${language}.json and en.json differ in: ${different.join(', ')}`);
  }
  return [english, ...others];
}

function differenceOf(some: readonly string[], others: readonly string[]): readonly string[] {
  const [one, other] = [new Set(some), new Set(others)];
  return [...some.filter((key) => !other.has(key)), ...others.filter((key) => !one.has(key))];
}
