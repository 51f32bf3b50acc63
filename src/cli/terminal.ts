import {
  isJsonObject,
  isList,
  type JsonObject,
  type JsonValue,
} from '../event-sourcing/ports/domain-event.js';
import { printable } from '../validation/text.js';
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { OperatorReply } from '../operating/socket/client.js';

const width = 30;

/**
 * Makes a line that shows how far a command is. It writes only to a terminal, and leaves the line empty at the end.
 * @param label what the command does, for example `copying`
 */
export function makeProgressBar(label: string) {
  const output = process.stderr;
  let shown = '';
  const write = (text: string): void => {
    if (!output.isTTY || text === shown) return;
    output.write(`\r${text.padEnd(shown.length)}`);
    shown = text;
  };
  return {
    /** @param share from 0 to 1 */
    show: (share: number) => {
      const done = Math.min(1, Math.max(0, share));
      const full = Math.floor(done * width);
      write(`${label} [${'#'.repeat(full)}${'.'.repeat(width - full)}] ${Math.floor(done * 100)} %`);
    },
    end: () => {
      if (shown === '') return;
      write('');
      output.write('\r');
    },
  };
}

/**
 * Asks at the terminal before a change that cannot be undone. Returns null where the answer is yes. Without a terminal it
 * refuses, and names `--yes`.
 */
export async function unlessConfirmed(
  texts: {
    readonly question: string;
    /** What the change does, for the refusal: the end of the sentence "this …". */
    readonly does: string;
    /** What the refusal says after another answer, for example "nothing was erased". */
    readonly nothing: string;
  },
  input: NodeJS.ReadableStream & { readonly isTTY?: boolean } = process.stdin,
): Promise<OperatorReply | null> {
  if (input.isTTY !== true) {
    return { ok: false, code: 'invalid_request', message: `this ${texts.does}; confirm it by --yes` };
  }
  const terminal = createInterface({ input, output: process.stderr });
  try {
    // Ctrl+C, Ctrl+D and the end of the input are another answer.
    const closed = once(terminal, 'close').then(() => '');
    const asked = terminal.question(`${texts.question} Type yes: `).catch(() => '');
    const answer = await Promise.race([asked, closed]);
    const isYes = answer.trim().toLowerCase() === 'yes';
    return isYes ? null : { ok: false, code: 'not_confirmed', message: texts.nothing };
  } finally {
    terminal.close();
  }
}

/**
 * Returns the result of an operation as lines for a person: a list as a table, an object as one line a field. A table
 * that is wider than the terminal becomes one block of lines an entry.
 * @param columns the width of the terminal in characters
 */
export function asText(result: JsonValue, columns: number): string {
  return linesOf(result, columns).join('\n');
}

function linesOf(value: JsonValue, columns: number): readonly string[] {
  if (isList(value)) return listLines(value, columns);
  if (isPage(value)) return pageLines(value, columns);
  return isJsonObject(value) ? fieldLines(value, columns) : [scalar(value)];
}

type ListPage = JsonObject & { readonly items: readonly JsonValue[] };

/** Returns whether the value is a list of entries with the cursor of the next page, if any. */
function isPage(value: JsonValue): value is ListPage {
  if (!isJsonObject(value) || !isList(value['items'] ?? null)) return false;
  return Object.keys(value).every((name) => name === 'items' || name === 'next_cursor');
}

function pageLines({ items, next_cursor: next }: ListPage, columns: number): readonly string[] {
  const more = typeof next === 'string' ? ['', `There are more: --cursor ${printable(next)}`] : [];
  return [...listLines(items, columns), ...more];
}

function listLines(list: readonly JsonValue[], columns: number): readonly string[] {
  if (list.length === 0) return ['(none)'];
  if (!list.every(isJsonObject)) return list.map(inCell);
  const table = tableLines(list);
  if (table.every((line) => line.length <= columns)) return table;
  return list.flatMap((row, index) => [...(index === 0 ? [] : ['']), ...fieldLines(row, columns)]);
}

function tableLines(rows: readonly JsonObject[]): readonly string[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = [names, ...rows.map((row) => names.map((name) => inCell(row[name] ?? null)))];
  const widths = names.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  return cells.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function fieldLines(row: JsonObject, columns: number): readonly string[] {
  return Object.entries(row).flatMap(([name, value]) => {
    const nested = (isList(value) && value.some(isJsonObject)) || isJsonObject(value);
    if (!nested) return [`${name}: ${inCell(value)}`];
    return [`${name}:`, ...linesOf(value, columns - 2).map((line) => (line === '' ? '' : `  ${line}`))];
  });
}

/** A value on one line. Control characters are escaped: a name must not move the cursor of an operator's terminal. */
function inCell(value: JsonValue): string {
  if (isList(value)) return value.length === 0 ? '-' : value.map(inCell).join(', ');
  return isJsonObject(value) ? printable(JSON.stringify(value)) : scalar(value);
}

function scalar(value: JsonValue): string {
  return value === null || value === ''
    ? '-'
    : printable(typeof value === 'string' ? value : JSON.stringify(value));
}
