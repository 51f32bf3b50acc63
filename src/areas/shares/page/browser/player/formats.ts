/** Formats of the visitor's language, region and time zone. */
export interface ShareFormats {
  /** @param bytes a count of bytes; decimal units */
  readonly size: (bytes: number) => string;
  /** Returns the day and the time with the name of the zone, without seconds. */
  readonly moment: (time: Date) => string;
  readonly count: (count: number) => string;
  /** Returns minutes and seconds: `1:05`. */
  readonly clock: (seconds: number) => string;
  /** Returns the name of a language by its tag; the tag itself where the browser knows no name. */
  readonly languageName: (tag: string) => string;
}

const sizeUnits = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

/**
 * Makes the formats. A visitor with a region of the page's language has the formats of the region (`en-GB` for `en`).
 * @param wanted the languages of the browser
 * @param timeZone the zone of the browser when left out
 */
export function makeShareFormats(tag: string, wanted: readonly string[], timeZone?: string): ShareFormats {
  const locale = wanted.find((one) => primaryOf(one) === primaryOf(tag)) ?? tag;
  const zone = timeZone === undefined ? {} : { timeZone };
  const moments = new Intl.DateTimeFormat(locale, {
    ...{ year: 'numeric', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' },
    ...{ timeZoneName: 'short', ...zone },
  });
  const names = new Intl.DisplayNames(locale, { type: 'language' });
  const whole = new Intl.NumberFormat(locale);
  const padded = new Intl.NumberFormat(locale, { minimumIntegerDigits: 2 });
  return {
    size: (bytes) => {
      let [amount, unit] = [bytes, 0];
      // 999,500 bytes would round to 1,000 kB.
      for (; (unit === 0 ? amount >= 1_000 : amount >= 999.5) && unit < sizeUnits.length - 1; unit += 1)
        amount /= 1_000;
      return new Intl.NumberFormat(locale, {
        ...{ style: 'unit', unit: sizeUnits[unit] ?? 'byte', unitDisplay: unit === 0 ? 'long' : 'short' },
        maximumFractionDigits: amount < 100 && unit > 0 ? 1 : 0,
      }).format(amount);
    },
    moment: (time) => moments.format(time),
    count: (count) => whole.format(count),
    clock: (seconds) => `${whole.format(Math.floor(seconds / 60))}:${padded.format(seconds % 60)}`,
    languageName: (language) => {
      try {
        return names.of(language) ?? language;
      } catch {
        // No tag of BCP 47.
        return language;
      }
    },
  };
}

function primaryOf(tag: string): string {
  return (tag.split('-')[0] ?? '').toLowerCase();
}
