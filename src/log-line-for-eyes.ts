const levelNames: Readonly<Record<number, string>> = {
  20: 'debug',
  30: 'info',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
};

/**
 * Returns a JSON line of the log as text for a person: the time of the day, the level, the message, and the fields. A field that
 * is no plain word stays JSON. Control characters are escaped: a name of a stranger must not move the cursor of a terminal.
 */
export function lineForEyes(line: string): string {
  const { level, time, msg, ...fields } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const rest = Object.entries(fields).map(([name, value]) => `${name}=${printed(value)}`);
  const clock = new Date(String(time)).toISOString().slice(11, 23);
  const head = [clock, (levelNames[Number(level)] ?? String(level)).padEnd(5), String(msg)];
  return `${[...head, ...rest].join(' ').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped)}\n`;
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

function printed(value: unknown): string {
  return typeof value === 'string' && /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
}
