import type { Command } from 'commander';
import type { z } from 'zod';
import { program } from '../../src/cli/program.js';
import { environmentSchema, secretNames } from '../../src/config/config.js';
import { serviceVariables, type VariableDescription } from '../../src/config/descriptions.js';
import { paymentVariables } from '../../src/areas/payments/platforms/configured.js';
import { platforms } from '../../src/areas/payments/platforms/platforms.js';
import { describeFailure, testFailureCodes } from '../../src/areas/storages/domain/delivery/test-failure.js';
import { webhookMessages, type WebhookType } from '../../src/webhooks/messages/message-types.js';
import { eventsByArea, everyAggregate } from '../../projections/audit/words.js';
import { factorHead, factorRows } from './factor-table.js';
import { defaultLimits, limitDescriptions } from '../../src/security/rates/limits.js';

/** Makes the text of every generated part of a document, by the name between its markers: Markdown tables. */
export const generatedParts: Readonly<Record<string, () => string>> = {
  configuration: () => variableTable(serviceVariables),
  'payment-configuration': () => variableTable(Object.fromEntries(paymentVariables)),
  'payment-platforms': () =>
    table(
      ['platform', '`provider`', 'signs with', 'reports'],
      [...platforms].map(([name, { summary }]) => [
        `[${summary.title}](payments/${name}.md)`,
        `\`${name}\``,
        summary.signs_with,
        summary.reports,
      ]),
    ),
  limits: () =>
    table(
      ['limit', 'default', 'counts'],
      entriesOf(defaultLimits).map(([name, { limit, seconds }]) => [
        `\`${name}\``,
        `${limit} in ${duration(seconds)}`,
        limitDescriptions[name],
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

function variableTable(variables: Readonly<Record<string, VariableDescription>>): string {
  return table(
    ['variable', 'default', 'meaning'],
    Object.entries(variables).map(([name, description]) => [
      secretNames.some((secret) => secret === name) ? `\`${name}\`†` : `\`${name}\``,
      description.default ?? defaultOf(name),
      description.meaning,
    ]),
  );
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
