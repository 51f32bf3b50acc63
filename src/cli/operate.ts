import { InvalidArgumentError } from 'commander';
import { readConfig } from '../config/config.js';
import {
  changeRequest,
  type OperatorInput,
  type OperatorQuery,
  type OperatorReply,
  type OperatorRequest,
  readRequest,
} from '../operating/socket/client.js';
import type { JsonValue } from '../event-sourcing/ports/domain-event.js';
import { exitCodeOfError, exitCodeOfRefusal, exitCodes } from './exit-codes.js';
import { type Ask, withOperator } from './operator.js';
import { sentenceAbout } from './sentences.js';
import { tableOf } from './tables.js';
import { asText } from './terminal.js';

/** How a command prints: `--json` of the command line. */
let asJson = false;

/** Makes the commands print JSON. The command line calls it before it runs a command. */
export function printJson(wanted: boolean): void {
  asJson = wanted;
}

/** The width of an output that is no terminal, in characters. */
const usualColumns = 120;

/** Writes a result for a person. @param columns the width of the terminal in characters */
type Say = (result: JsonValue, columns: number) => string;

/** Runs a change and prints its result, or the reason of the refusal. @param answerMsMax see `Ask` */
export function operate(operation: string, body: OperatorInput, answerMsMax?: number): Promise<void> {
  return send(operation, changeRequest(operation, body), answerMsMax);
}

/** Reads and prints the result, or the reason of the refusal. */
export function show(operation: string, query?: OperatorQuery): Promise<void> {
  return send(operation, readRequest(operation, query));
}

/** Sends a request and prints the result as that of an operation. @param answerMsMax see `Ask` */
export function send(operation: string, request: OperatorRequest, answerMsMax?: number): Promise<void> {
  return operateWith((ask) => ask(request, answerMsMax), sayOf(operation));
}

/** Returns the function that writes the result of an operation: a sentence where one tells it, otherwise fields and tables. */
export function sayOf(operation: string): Say {
  return (result, columns) => sentenceAbout(operation, result) ?? asText(tableOf(operation, result), columns);
}

/** Runs work that asks for several operations, and prints its last reply. @param say by default `asText` */
export function operateWith(work: (ask: Ask) => Promise<OperatorReply>, say?: Say): Promise<void> {
  return withOperator(readConfig(), async (ask) => printReply(await work(ask), say));
}

/** Makes the reply of work that has put its result together itself. */
export function done(result: JsonValue): OperatorReply {
  return { ok: true, result, bytes: Buffer.alloc(0) };
}

/** Prints a result on standard output, or a refusal on standard error, and sets the exit code. */
function printReply(reply: OperatorReply, say?: Say): void {
  if (reply.ok) printResult(reply.result, say);
  else {
    const { code, message } = reply;
    writeProblem(asJson ? JSON.stringify({ code, message }) : `stowage: ${message} (${code})`);
    process.exitCode = exitCodeOfRefusal(reply.code);
  }
}

/** Prints a result on standard output: text for a person, or with `--json` one JSON value. */
export function printResult(result: JsonValue, say: Say = asText): void {
  const text = asJson ? JSON.stringify(result, null, 2) : say(result, process.stdout.columns || usualColumns);
  process.stdout.write(`${text}\n`);
}

/** Prints an error whose message is a sentence for the operator, and sets the exit code. */
export function printError(error: Error): void {
  const exitCode = exitCodeOfError(error);
  const code = exitCode === exitCodes.temporary ? 'store_unavailable' : 'failed';
  writeProblem(asJson ? JSON.stringify({ code, message: error.message }) : `stowage: ${error.message}`);
  process.exitCode = exitCode;
}

function writeProblem(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Parses an option that is a number. */
export function parseInteger(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('must be a whole number');
  return Number(text);
}
