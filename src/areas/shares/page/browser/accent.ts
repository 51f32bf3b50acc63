/** A colour for controls, and the colour of text on it. */
type Accent = { readonly main: string; readonly text: string };

type Rgb = readonly [number, number, number];

const white: Rgb = [255, 255, 255];
const black: Rgb = [0, 0, 0];
/** WCAG 2.2, 1.4.3. The backgrounds of `share-page-style.ts` that are hardest to stand out from. */
const contrastMin = 4.6;
const lightBackground: Rgb = [238, 241, 246];
const darkBackground: Rgb = [33, 40, 51];

/**
 * Returns the accent of a colour for a light and for a dark page: the nearest mixture with black or white that can be read as
 * text on the page.
 * @param color `#rrggbb`
 * @returns null for another text
 */
export function accentsOf(color: string): { readonly light: Accent; readonly dark: Accent } | null {
  const [, red = '', green = '', blue = ''] = /^#([\da-f]{2})([\da-f]{2})([\da-f]{2})$/i.exec(color) ?? [];
  if (red === '') return null;
  const own: Rgb = [parseInt(red, 16), parseInt(green, 16), parseInt(blue, 16)];
  return { light: readable(own, lightBackground, black), dark: readable(own, darkBackground, white) };
}

/** Returns the contrast of two colours `#rrggbb`: 1 to 21. WCAG 2.2, "contrast ratio". */
export function contrastOf(one: Rgb, other: Rgb): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function readable(own: Rgb, background: Rgb, towards: Rgb): Accent {
  let color = own;
  for (let part = 0; part <= 1 && contrastOf(color, background) < contrastMin; part += 0.02) {
    color = mix(own, towards, part);
  }
  const text = contrastOf(color, white) >= contrastOf(color, black) ? white : black;
  return { main: hexOfColor(color), text: hexOfColor(text) };
}

function mix(one: Rgb, other: Rgb, part: number): Rgb {
  const at = (index: 0 | 1 | 2): number => Math.round(one[index] + (other[index] - one[index]) * part);
  return [at(0), at(1), at(2)];
}

function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function hexOfColor(color: Rgb): string {
  return `#${color.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
