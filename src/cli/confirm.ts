import { createInterface } from 'node:readline/promises';
import type { OperatorReply } from '../operating/socket/client.js';

/**
 * Asks at the terminal before a change that cannot be undone. Returns null where the answer is yes. Without a terminal it
 * refuses, and names `--yes`.
 */
export async function unlessConfirmed(texts: {
  readonly question: string;
  /** What the change does, for the refusal: the end of the sentence "this …". */
  readonly does: string;
  /** What the refusal says after another answer, for example "nothing was erased". */
  readonly nothing: string;
}): Promise<OperatorReply | null> {
  if (!process.stdin.isTTY) {
    return { ok: false, code: 'invalid_request', message: `this ${texts.does}; confirm it by --yes` };
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${texts.question} Type yes: `);
    const isYes = answer.trim().toLowerCase() === 'yes';
    return isYes ? null : { ok: false, code: 'not_confirmed', message: texts.nothing };
  } finally {
    terminal.close();
  }
}
