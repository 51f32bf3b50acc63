import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { ExecutionContext } from 'ava';

export const steps = ['greeting', 'EHLO', 'MAIL', 'RCPT', 'DATA', 'content'] as const;
export type Step = (typeof steps)[number];

/** What the server does at a step: it answers after a time, ends the connection, or says nothing. */
export type Act = { readonly afterMs?: number; readonly reply?: string } | 'drop' | 'silence';

/** A mail whose content the server got, and whether it has sent its acceptance. */
export interface RecordedMail {
  readonly recipient: string;
  readonly messageId: string;
  readonly at: number;
  isAccepted: boolean;
}

const replies: Readonly<Record<Step, string>> = {
  ...{ greeting: '220 test ESMTP', EHLO: '250 test', MAIL: '250 fine', RCPT: '250 fine', DATA: '354 go on' },
  content: '250 taken',
};

/**
 * Starts an SMTP server that follows a script, and records each mail that it gets. It ends with the test.
 * @param script gets each step; `recipient` is empty before RCPT. Without an act it answers at once
 */
export async function startScriptedSmtp(
  t: ExecutionContext,
  script: (step: Step, recipient: string) => Act | undefined,
): Promise<{ readonly url: string; readonly mails: readonly RecordedMail[] }> {
  const mails: RecordedMail[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    serve(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `smtp://127.0.0.1:${address.port}`, mails };

  function serve(socket: Socket): void {
    let isContent = false;
    let [recipient, content] = ['', ''];
    act('greeting');
    socket.on('data', (chunk) => {
      const text = chunk.toString('utf8');
      if (!isContent) {
        recipient = /^RCPT TO:<([^>]*)>/.exec(text)?.[1] ?? recipient;
        act(stepOf(text));
        return;
      }
      content += text;
      if (!content.endsWith('\r\n.\r\n')) return;
      const messageId = /^Message-ID: (.*)$/im.exec(content)?.[1]?.trim() ?? '';
      const mail = { recipient, messageId, at: Date.now(), isAccepted: false };
      mails.push(mail);
      act('content', () => {
        mail.isAccepted = true;
      });
    });

    function act(step: Step, onAccepted = (): void => undefined): void {
      isContent = step === 'DATA';
      const what = script(step, recipient) ?? {};
      if (what === 'drop') socket.destroy();
      else if (what !== 'silence') {
        const reply = what.reply ?? replies[step];
        setTimeout(() => {
          if (socket.writable && reply.startsWith('2')) onAccepted();
          socket.write(`${reply}\r\n`);
        }, what.afterMs ?? 0);
      }
    }
  }
}

function stepOf(text: string): Step {
  const verb = text.slice(0, 4);
  if (verb === 'EHLO' || verb === 'MAIL' || verb === 'RCPT' || verb === 'DATA') return verb;
  throw new Error(`the test server does not know ${verb}`);
}
