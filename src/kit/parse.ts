/** Parses JSON. Returns undefined, which no JSON is, for another text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
