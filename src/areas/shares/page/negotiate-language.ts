import { readFileSync, readdirSync } from 'node:fs';
import { z } from 'zod';
import { packageFile } from '../../../package-files.js';

/** The texts of the page of shares in one language, by key. */
export interface ShareTexts extends PageLanguage {
  readonly texts: Readonly<Record<string, string>>;
}

/** The build copies the folder `texts` to it. */
const folder = packageFile('dist/pages/texts/');
const fileSchema = z.record(z.string(), z.string().min(1)).and(z.object({ lang: z.string() }));

/**
 * Reads the languages of the page: each file of the folder `texts` is one, named by its language subtag (`de.json`). English
 * comes first. A test compares their keys.
 */
export function readShareTexts(): readonly [ShareTexts, ...ShareTexts[]] {
  const others = readdirSync(folder).filter((name) => name.endsWith('.json') && name !== 'en.json');
  return [readTexts('en.json'), ...others.sort().map(readTexts)];
}

function readTexts(name: string): ShareTexts {
  const { lang, ...texts } = fileSchema.parse(JSON.parse(readFileSync(new URL(name, folder), 'utf8')));
  return { language: name.slice(0, -'.json'.length), tag: lang, texts };
}

/** A language that a page has. */
export interface PageLanguage {
  /** The primary subtag: `zh`. */
  readonly language: string;
  /** The language tag of the texts, for the attribute `lang`: `zh-Hans`. */
  readonly tag: string;
}

/** Browsers send about ten ranges. */
const rangesMax = 32;

/**
 * Returns the language that the visitor prefers (RFC 9110, 12.5.4): the one with the highest weight, and of equal ones the first
 * that the field names. Primary subtags decide, so `de-AT` finds `de`. A malformed range counts as absent.
 * @param available the first one is for visitors who accept none of them
 */
export function negotiateLanguage<Language extends PageLanguage>(
  acceptLanguage: string | undefined,
  available: readonly [Language, ...Language[]],
): Language {
  const [first] = available;
  const ranges = (acceptLanguage ?? '').split(',').slice(0, rangesMax).flatMap(readRange);
  const refused = new Set(ranges.filter(({ weight }) => weight === 0).map(({ primary }) => primary));
  for (const { primary } of ranges.toSorted((one, other) => other.weight - one.weight)) {
    const found = available.find(
      ({ language }) => !refused.has(language) && [language, '*'].includes(primary),
    );
    if (found !== undefined) return found;
  }
  return first;
}

interface LanguageRange {
  /** In lower case; `*` for any language. */
  readonly primary: string;
  /** 0 to 1. */
  readonly weight: number;
}

/** Returns no range, or one. */
function readRange(text: string): readonly LanguageRange[] {
  const pattern = /^\s*(\*|[a-z]{2,8})(?:-[a-z0-9]{1,8})*\s*(?:;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/i;
  const [, primary, weight = '1'] = pattern.exec(text) ?? [];
  return primary === undefined ? [] : [{ primary: primary.toLowerCase(), weight: Number(weight) }];
}
