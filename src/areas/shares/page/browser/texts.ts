/** The texts of the page in the language that the service selected. */
export interface ShareWords {
  /** A language tag. */
  readonly tag: string;
  /** Returns the text of a key with its `{values}`. @throws Error when the texts lack the key */
  readonly say: (key: string, values?: Readonly<Record<string, string>>) => string;
  /** Returns the form of a text that fits a number: `<key>.zero`, `.one`, `.other`. */
  readonly sayCount: (key: string, count: number, shown: string) => string;
  /** Returns a text, or null where the texts have none for the key. */
  readonly sayIfKnown: (key: string) => string | null;
}

/** Reads the texts that the page contains. @param json `{"tag", "texts"}` */
export function readShareWords(json: string): ShareWords {
  const { tag, texts } = JSON.parse(json) as {
    readonly tag: string;
    readonly texts: Readonly<Record<string, string>>;
  };
  const plural = new Intl.PluralRules(tag);
  const sayIfKnown = (key: string): string | null =>
    Object.hasOwn(texts, key) ? (texts[key] ?? null) : null;
  const say: ShareWords['say'] = (key, values = {}) => {
    const text = sayIfKnown(key);
    if (text === null) throw new Error(`the page has no text ${key}`);
    return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
  };
  return {
    tag,
    say,
    sayIfKnown,
    sayCount: (key, count, shown) => {
      const zero = count === 0 ? sayIfKnown(`${key}.zero`) : null;
      const form = `${key}.${plural.select(count)}`;
      return zero ?? say(sayIfKnown(form) === null ? `${key}.other` : form, { count: shown });
    },
  };
}
