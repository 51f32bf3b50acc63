import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { addTotp, recover, operate, type ServiceClient, type SignedIn } from '../clients/service-client.js';

const account = { email: 'auditor@example.org', password: 'Correct-Horse-9' };

/**
 * Reads all pages of `GET /audit/events`, and the documents of streams, as a platform auditor that it makes.
 * @returns the text of all replies, and the number of events @throws Error for a status other than 200
 */
export async function readAuditorPages(
  client: ServiceClient,
  directory: string,
  streams: readonly string[],
): Promise<{ readonly text: string; readonly events: number }> {
  const { email, password } = account;
  let auditor = await client.register(email, password);
  const recoveryCodes = [...(await addTotp(client, auditor.headers))];
  await operate(directory, 'user verify', { email });
  await operate(directory, 'platform-role grant', { email, role: 'auditor' });
  const texts: string[] = [];
  const read = async (path: string, auditor: SignedIn): Promise<JsonObject> => {
    const reply = await client.get(path, auditor.headers);
    if (reply.status !== 200) throw new Error(`${path} is answered ${reply.status}: ${reply.text}`);
    texts.push(reply.text);
    return reply.json();
  };
  let events = 0;
  for (let cursor: string | null = ''; cursor !== null;) {
    const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { items, next_cursor: next } = await read(`/audit/events?limit=100${query}`, auditor);
    events += (items as readonly unknown[]).length;
    cursor = typeof next === 'string' ? next : null;
  }
  for (const [at, stream] of streams.entries()) {
    // Access tokens live 10 minutes.
    if (at % 200 === 199) {
      auditor = await client.login(email, password);
      await recover(client, auditor.headers, recoveryCodes.pop() ?? '');
    }
    await read(`/audit/streams/${stream}`, auditor);
  }
  return { text: texts.join('\n'), events };
}
