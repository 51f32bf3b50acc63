import { makeOperators } from '../../../src/composition/operators.js';
import type { Services } from '../../../src/composition/services.js';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { callOperator, type OperatorReply } from '../../../src/operating/socket/client.js';
import { connectWithin } from '../../../src/operating/socket/listen.js';
import { asObject, operatorRequest } from '../clients/service-client.js';

/** Asks the routes of operators of this process, by the words of a command. */
export function askOperators(
  services: Services,
  operation: string,
  input: JsonObject,
): Promise<OperatorReply> {
  const open = connectWithin(makeOperators(services, { status: () => null }));
  return callOperator(open, operatorRequest(operation, input));
}

/** Runs a command of an operator in this process. @throws Error when it was refused */
export async function operateOn(
  services: Services,
  operation: string,
  input: JsonObject,
): Promise<JsonObject> {
  const reply = await askOperators(services, operation, input);
  if (!reply.ok) throw new Error(`${operation} was refused: ${reply.message}`);
  return asObject(reply.result);
}
