import type { z } from 'zod';
import { type FieldProblem, listProblems } from '../../validation/field-problems.js';
import { fieldProblems } from '../../validation/plain-words.js';
import type { JsonValue } from '../../event-sourcing/ports/domain-event.js';
import {
  CommandRejected,
  PreconditionFailed,
  StoreDamaged,
  StoreUnavailable,
} from '../../event-sourcing/ports/errors.js';
import { Overloaded } from '../../kit/overloaded.js';
import type { ControlReply, ControlRequest } from './protocol.js';

/** An operation of the command line. It runs inside the running service, or with stores that the command line opens. */
export interface Operation {
  readonly name: string;
  readonly run: (input: unknown) => Promise<OperationOutcome>;
}

export type OperationOutcome = { readonly result: JsonValue } | { readonly invalid: readonly FieldProblem[] };

export function defineOperation<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  run: (input: z.output<Schema>) => Promise<JsonValue>,
): Operation {
  return {
    name,
    run: async (input) => {
      const parsed = schema.safeParse(input);
      if (parsed.success) return { result: await run(parsed.data) };
      return { invalid: fieldProblems(schema, input) };
    },
  };
}

/** Turns every outcome into a reply. @param onError receives the failures that are no refusal of a command */
export function makeOperationRunner(
  operations: readonly Operation[],
  onError: (operation: string, error: unknown) => void,
): (request: ControlRequest) => Promise<ControlReply> {
  const byName = new Map(operations.map((operation) => [operation.name, operation]));
  return async ({ operation: name, input }) => {
    const operation = byName.get(name);
    if (operation === undefined) {
      return refuse('unknown_operation', `this version of the service knows no operation "${name}"`);
    }
    try {
      const outcome = await operation.run(input);
      if ('result' in outcome) return { ok: true, result: outcome.result };
      return refuse('invalid_request', listProblems(outcome.invalid));
    } catch (error) {
      if (error instanceof CommandRejected) return refuse(String(error.code), error.message);
      onError(name, error);
      if (error instanceof StoreUnavailable)
        return refuse('store_unavailable', `${error.message}; try again`);
      if (error instanceof Overloaded || error instanceof PreconditionFailed)
        return refuse('overloaded', 'try again');
      if (error instanceof StoreDamaged) return refuse('store_damaged', error.message);
      return refuse('internal_error', 'the operation failed; the log says why');
    }
  };
}

function refuse(code: string, message: string): ControlReply {
  return { ok: false, code, message };
}
