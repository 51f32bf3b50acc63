import { z } from 'zod';
import { event, type EventIn, makeEvents, sealedSchema } from '../../../../event-sourcing/ports/events.js';
import { entityId, instant, mailOutcome, requester } from '../../../../validation/fields.js';
import { outcomeInWords } from '../../../../validation/text.js';

const clients = { known: 'a known network', unknown: 'an unknown network' } as const;

/** Who asked or tried. */
const byRequester = { requester };

export const loginCodeEvents = makeEvents('logincode-{digest of the address}', {
  /** A code of six digits ends the earlier one of the same kind of requester. The code is not stored but computed from these fields (src/areas/accounts/commands/README.md#login-codes). */
  LoginCodeIssued: event(
    {
      issue_id: entityId,
      user_id: entityId,
      /** The address of the mail, sealed for the person. */
      email: sealedSchema,
      /** The key of CODE_KEYS that makes the code. */
      code_key_id: z.string().min(1),
      expires_at: instant,
      /** A code of 100 bits: no other code and no failure ends it. */
      strong: z.boolean(),
      ...byRequester,
    },
    ({ issue_id, user_id, requester, expires_at }) =>
      `asked from ${clients[requester]} for sign-in code ${issue_id} of user ${user_id}, valid until ${expires_at}; the address is sealed`,
  ),
  /**
   * A request for an address without an account. It makes the request cost the same store calls as one that issues a
   * code, and counts at the same limits (src/areas/accounts/commands/README.md#login-codes).
   */
  LoginCodeWithheld: event(
    byRequester,
    ({ requester }) =>
      `asked from ${clients[requester]} for a sign-in code of an address that has no account; no code was made`,
  ),
  LoginCodeMailed: event(
    { issue_id: entityId, outcome: mailOutcome },
    ({ issue_id, outcome }) => `mailed sign-in code ${issue_id}; ${outcomeInWords(outcome)}`,
  ),
  LoginCodeAttemptFailed: event(
    { issue_id: entityId, ...byRequester },
    ({ issue_id, requester }) =>
      `entered a wrong code for sign-in code ${issue_id} from ${clients[requester]}`,
  ),
  LoginCodeUsed: event({ issue_id: entityId }, ({ issue_id }) => `signed in with sign-in code ${issue_id}`),
});

export type LoginCodeEvent = EventIn<typeof loginCodeEvents>;
export const { codec: loginCodeCodec } = loginCodeEvents;
