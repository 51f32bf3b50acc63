import type { ShareWords } from '../texts.js';

/** The texts of the page, and how it writes numbers and times. */
export interface Wording {
  readonly words: ShareWords;
  readonly formats: ShareFormats;
}

/** Formats of the visitor's language, region and time zone. */
export type ShareFormats = ReturnType<typeof makeShareFormats>;

const sizeUnits = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

/**
 * Makes the formats. A visitor with a region of the page's language has the formats of the region (`en-GB` for `en`).
 * @param wanted the languages of the browser
 * @param timeZone the zone of the browser when left out
 */
export function makeShareFormats(tag: string, wanted: readonly string[], timeZone?: string) {
  const locale = wanted.find((one) => primaryOf(one) === primaryOf(tag) && isTag(one)) ?? tag;
  const zone = timeZone === undefined ? {} : { timeZone };
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { ...options, ...zone });
  const time = format({ timeStyle: 'short' });
  const weekday = format({ weekday: 'long' });
  const date = { month: 'long', day: 'numeric' } as const;
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  // Days of the Gregorian calendar in the zone, which can be subtracted.
  const days = new Intl.DateTimeFormat('en-CA', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    ...zone,
  });
  const dayOf = (moment: Date): number => Date.parse(`${days.format(moment)}T00:00:00Z`) / 86_400_000;
  const names = new Intl.DisplayNames(locale, { type: 'language' });
  const whole = new Intl.NumberFormat(locale);
  const padded = new Intl.NumberFormat(locale, { minimumIntegerDigits: 2 });
  return {
    /** @param bytes a count of bytes; decimal units */
    size: (bytes: number) => {
      let [amount, unit] = [bytes, 0];
      // 999,500 bytes would round to 1,000 kB.
      for (; (unit === 0 ? amount >= 1_000 : amount >= 999.5) && unit < sizeUnits.length - 1; unit += 1)
        amount /= 1_000;
      return new Intl.NumberFormat(locale, {
        ...{ style: 'unit', unit: sizeUnits[unit] ?? 'byte', unitDisplay: unit === 0 ? 'long' : 'short' },
        maximumFractionDigits: amount < 100 && unit > 0 ? 1 : 0,
      }).format(amount);
    },
    /** Returns an end as people say it: today or tomorrow with the time, a day of the week for six days, then a date. */
    end: (moment: Date, now: Date) => {
      const ahead = dayOf(moment) - dayOf(now);
      if (ahead >= 0 && ahead <= 1) return `${relative.format(ahead, 'day')}, ${time.format(moment)}`;
      if (ahead > 1 && ahead <= 6) return weekday.format(moment);
      const isThisYear = days.format(moment).slice(0, 4) === days.format(now).slice(0, 4);
      return format(isThisYear ? date : { ...date, year: 'numeric' }).format(moment);
    },
    count: (count: number) => whole.format(count),
    /** Returns minutes and seconds: `1:05`. */
    clock: (seconds: number) => `${whole.format(Math.floor(seconds / 60))}:${padded.format(seconds % 60)}`,
    /** Returns the name of a language by its tag; the tag itself where the browser knows no name. */
    languageName: (language: string) => {
      try {
        return names.of(language) ?? language;
      } catch {
        // No tag of BCP 47.
        return language;
      }
    },
  };
}

/** Chromium may name a locale of its machine that is no tag of BCP 47: `en-US@posix`. */
function isTag(language: string): boolean {
  try {
    return Intl.getCanonicalLocales(language).length === 1;
  } catch {
    return false;
  }
}

function primaryOf(tag: string): string {
  return (tag.split('-')[0] ?? '').toLowerCase();
}
