/** Words of a name that count, so that a long name does not fill the index. */
const wordsMax = 40;
/** The scripts that put no spaces between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const letterOrDigit = /[\p{L}\p{N}]/u;
const digit = /\p{N}/u;
const capital = /\p{Lu}/u;

/** A name as `q` sees it. */
interface ReadName {
  /** Without capitals, accents and all that is no letter or digit; a space for each gap. */
  readonly text: string;
  /** The indexes in `text` at which a word begins, in order. */
  readonly starts: readonly number[];
}

/**
 * Reads a name. A word begins after a gap, between digits and letters, at a capital after a small letter, and at each
 * character of a script without spaces: `IMG_4711 RhineDawn` has the words img, 4711, rhine and dawn.
 */
function readName(name: string): ReadName {
  let text = '';
  let before = '';
  const starts: number[] = [];
  for (const character of name.normalize('NFKD').replace(/\p{M}/gu, '')) {
    if (!letterOrDigit.test(character)) {
      if (before !== '') text += ' ';
      before = '';
      continue;
    }
    if (beginsWord(before, character) && starts.length < wordsMax) starts.push(text.length);
    text += character.toLowerCase();
    before = character;
  }
  return { text, starts };
}

function beginsWord(before: string, character: string): boolean {
  if (before === '' || unspaced.test(character) || unspaced.test(before)) return true;
  if (digit.test(before) !== digit.test(character)) return true;
  return capital.test(character) && !capital.test(before);
}

/** Returns the words of a search: its parts between gaps. */
export function searchedWords(search: string): readonly string[] {
  return readName(search)
    .text.split(' ')
    .filter((word) => word !== '');
}

/** Returns whether each of the words is in the name from the beginning of a word on. */
export function hasWords(name: string, words: readonly string[]): boolean {
  const { text, starts } = readName(name);
  return words.every((word) => starts.some((start) => text.startsWith(word, start)));
}

/** Returns the beginnings of a name's words, by which an index finds them. */
export function beginningsOf(name: string): ReadonlySet<string> {
  const { text, starts } = readName(name);
  return new Set(starts.map((start) => beginningOf(text.slice(start).split(' ', 1)[0] ?? '')));
}

/** Returns the beginning of the longest of the words that an index can find; null where all are too short. */
export function indexedBeginning(words: readonly string[]): string | null {
  const [longest = ''] = words
    .filter((word) => Array.from(word).length >= lengthFor(word))
    .toSorted((a, b) => b.length - a.length);
  return longest === '' ? null : beginningOf(longest);
}

function beginningOf(word: string): string {
  return Array.from(word).slice(0, lengthFor(word)).join('');
}

/** Three letters, or two characters of a script whose words have often no more. */
function lengthFor(word: string): number {
  return unspaced.test(String.fromCodePoint(word.codePointAt(0) ?? 0)) ? 2 : 3;
}

/** Returns the text by which names sort: without capitals and accents, cut to 60 characters. */
export function sortedName(name: string): string {
  return Array.from(name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()).slice(0, 60).join('');
}
