/**
 * Returns, as a sentence, a flaw that `JSON.parse` accepts: a repeated key, deep nesting, or half of a surrogate pair,
 * which UTF-8 would change. `text` is valid JSON. It makes one pass without recursion.
 */
export function findJsonFlaw(text: string, depthMax: number): string | null {
  // One entry for each open bracket: the keys of an object so far, null for an array.
  const open: (Set<string> | null)[] = [];
  let keyNext = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      const flaw = judgeString(text.slice(at, end + 1), keyNext ? open.at(-1) : null);
      if (flaw !== null) return flaw;
      keyNext = false;
      at = end;
    } else if (character === '{' || character === '[') {
      keyNext = character === '{';
      open.push(keyNext ? new Set() : null);
      if (open.length > depthMax) return `the body is nested deeper than ${depthMax} levels`;
    } else if (character === '}' || character === ']') {
      open.pop();
      keyNext = false;
    } else if (character === ',') {
      keyNext = open.at(-1) instanceof Set;
    }
  }
  return null;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

/** @param keys the keys of its object if the string is a key; none if it is a value */
function judgeString(quoted: string, keys: Set<string> | null | undefined): string | null {
  // Only escapes can make half of a pair or spell one key in two ways: the text is valid UTF-8.
  const string = quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
  if (quoted.includes('\\') && /\p{Surrogate}/u.test(string)) {
    return 'the body holds a string with an unpaired surrogate';
  }
  if (keys?.has(string) === true) return 'the body repeats a key within one object';
  keys?.add(string);
  return null;
}
