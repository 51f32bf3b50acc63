import type { Command } from 'commander';
import type { z } from 'zod';
import { program } from '../../src/cli/program.js';
import { environmentSchema, secretNames } from '../../src/config/config.js';
import { paymentVariableNames } from '../../src/areas/payments/platforms/configured.js';
import { platforms } from '../../src/areas/payments/platforms/platforms.js';
import { describeFailure, testFailureCodes } from '../../src/areas/storages/domain/delivery/test-failure.js';
import { webhookMessages, type WebhookType } from '../../src/webhooks/messages/message-types.js';
import { eventsByArea, everyAggregate } from '../../projections/audit/words.js';
import { factorHead, factorRows } from './factor-table.js';
import { defaultLimits } from '../../src/security/rates/limits.js';

const serviceVariableNames = [...new Set([...Object.keys(environmentSchema.shape), ...secretNames])].filter(
  (name) => !name.startsWith('PAYMENT_'),
);

/**
 * Makes the text of every generated part of a document, by the name between its markers: Markdown tables. Words that only a
 * document has are those of the present text.
 */
export const generatedParts: Readonly<Record<string, (present: string) => string>> = {
  configuration: (present) => {
    const placeOf = (name: string): number => present.indexOf(`| \`${name}\``);
    return variableTable(
      serviceVariableNames.toSorted((one, other) => placeOf(one) - placeOf(other)),
      present,
    );
  },
  'payment-configuration': (present) => variableTable(paymentVariableNames, present),
  'payment-platforms': (present) =>
    table(
      ['platform', '`provider`', 'signs with', 'reports'],
      [...platforms.keys()].map((name) => {
        const [title = '', , signsWith = '', reports = ''] = rowOf(present, name);
        return [title, `\`${name}\``, signsWith, reports];
      }),
    ),
  limits: (present) =>
    table(
      ['limit', 'default', 'counts'],
      entriesOf(defaultLimits).map(([name, { limit, seconds }]) => [
        `\`${name}\``,
        `${limit} in ${duration(seconds)}`,
        rowOf(present, name)[2] ?? '',
      ]),
    ),
  'storage-test-codes': () =>
    table(
      ['code', 'advice'],
      testFailureCodes.map((code) => [`\`${code}\``, adviceOf(code)]),
    ),
  'webhook-messages': () =>
    table(
      ['type', 'sent when', 'further fields of `data`'],
      entriesOf(webhookMessages).map(([type, { sentWhen, data }]) => [
        `\`${type}\``,
        sentWhen,
        codeOf(Object.keys(data.shape).filter((field) => !commonFields(type).includes(field))),
      ]),
    ),
  events: () =>
    table(
      ['category', 'type', 'fields of `data`'],
      everyAggregate.flatMap(({ category, codec }) =>
        Object.entries(codec.schemas as Readonly<Record<string, z.ZodObject>>).map(
          ([type, { shape }], at) => [at === 0 ? category : '', `\`${type}\``, codeOf(Object.keys(shape))],
        ),
      ),
    ),
  streams: () =>
    table(
      ['area', 'streams'],
      entriesOf(eventsByArea).map(([area, aggregates]) => [
        `\`${area}\``,
        aggregates.map(({ streams }) => `\`${streams}\``).join(', '),
      ]),
    ),
  factors: () => table(factorHead, factorRows()),
  commands: () =>
    table(
      ['command', 'does'],
      commandsOf(program, []).map(({ path, command }) => [
        `\`${[...path, usageOf(command)].filter((word) => word !== '').join(' ')}\``,
        command.description(),
      ]),
    ),
};

/** Names as one piece of code; none as an empty cell. */
function codeOf(names: readonly string[]): string {
  return names.length === 0 ? '' : `\`${names.join(', ')}\``;
}

/** The fields of every message of a category; these types have no others. */
function commonFields(type: WebhookType): readonly string[] {
  const bare = { order: 'order.expired', share: 'share.revoked', storage: 'storage.changed' } as const;
  const category = entriesOf(bare).find(([name]) => type.startsWith(`${name}.`))?.[1];
  return category === undefined ? [] : Object.keys(webhookMessages[category].data.shape);
}

/** An address with placeholders is code, not an element of HTML. */
function adviceOf(code: (typeof testFailureCodes)[number]): string {
  const text = describeFailure({ code, hint: null }).slice(code.length + 2);
  return text.replace(/https:\/\/<[^ ]+>/, '`$&`');
}

/** The meaning, and a default that the schema cannot tell, are those of the present text. */
function variableTable(names: readonly string[], present: string): string {
  return table(
    ['variable', 'default', 'meaning'],
    names.map((name) => {
      const [, preset = '', meaning = ''] = rowOf(present, name);
      const isSecret = secretNames.some((secret) => secret === name);
      return [isSecret ? `\`${name}\`†` : `\`${name}\``, defaultOf(name) || preset, meaning];
    }),
  );
}

/** Returns the cells of the row whose first code is the name. @throws Error where its last cell says nothing */
function rowOf(present: string, name: string): readonly string[] {
  const row = present.split('\n').find((line) => /`([^`]+)`/.exec(line)?.[1] === name) ?? '';
  const cells = row.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
  if (!cells.at(-2)) throw new Error(`write a row for ${name} into the table, then run npm run docs`);
  return cells.slice(1, -1);
}

/** What the schema makes of a variable that is not set. */
function defaultOf(name: string): string {
  const field = entriesOf(environmentSchema.shape).find(([key]) => key === name)?.[1];
  const value: unknown = field?.safeParse(undefined).data;
  const text = Array.isArray(value) ? value.join(',') : JSON.stringify(value ?? '').replaceAll('"', '');
  return text === '' ? '' : `\`${text}\``;
}

/** @param seconds a whole number of minutes, hours or days */
function duration(seconds: number): string {
  for (const [unit, size] of [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ] as const) {
    if (seconds === size) return unit === 'hour' ? 'an hour' : `a ${unit}`;
    if (seconds % size === 0) return `${seconds / size} ${unit}s`;
  }
  return `${seconds} s`;
}

interface Leaf {
  readonly path: readonly string[];
  readonly command: Command;
}

/** The commands that do something, in the order of the help. */
function commandsOf(command: Command, above: readonly string[]): readonly Leaf[] {
  const path = [...above, command.name()];
  if (command.commands.length === 0) return [{ path, command }];
  return command.commands.flatMap((inner) => commandsOf(inner, path));
}

/** Its arguments and its mandatory options; `--help` lists the others. */
function usageOf(command: Command): string {
  const words = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  const options = command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags);
  const others = command.options.length > options.length ? ['[options]'] : [];
  return [...words, ...options, ...others].join(' ');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`.replaceAll('  ', ' ');
  // Without padding, a longer cell changes no other row.
  return ['<!-- prettier-ignore -->', line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function entriesOf<Key extends string, Value>(record: Readonly<Record<Key, Value>>): [Key, Value][] {
  return Object.entries(record) as [Key, Value][];
}
