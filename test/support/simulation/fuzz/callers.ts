import { randomUUID } from 'node:crypto';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import type { ProjectEvent } from '../../../../src/areas/projects/domain/project/events.js';
import { type Role, scopes } from '../../../../src/areas/projects/domain/role.js';
import { sessionAggregate } from '../../../../src/areas/accounts/domain/session/session.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import type { UserEvent } from '../../../../src/areas/accounts/domain/user/events.js';
import { derivedId } from '../../../../src/event-sourcing/deciding/ids.js';
import { makeApiKey } from '../../../../src/security/tokens/api-keys.js';
import { appendEvents } from '../../given/append-events.js';
import { digest } from '../../examples/ids.js';
import type { ServiceInProcess } from '../../servers/service-in-process.js';
import type { Header } from './heads.js';
import { makeKnownIds, type KnownIds } from './known-ids.js';
import { makeKnownWords, type KnownWords } from './known-words.js';
import { makeWaitingPayments } from './waiting-payments.js';

/** A caller: its weight beside the others, its credentials, and the ids and words that it has received. */
export interface FuzzCaller {
  readonly name: string;
  readonly weight: number;
  readonly credentials: readonly Header[];
  readonly ids: KnownIds;
  readonly words: KnownWords;
}

export const agentSecret = 'fuzz-agent-secret';
const password = 'Correct-Horse-7-Battery';

/** Makes callers of all kinds around one project, for one lane. Their requests affect only each other. */
export async function makeCallers(
  service: ServiceInProcess,
  randomBytes: (size: number) => Buffer,
): Promise<readonly FuzzCaller[]> {
  const { handler, commands, accessTokens, clock } = service.services;
  const context = () => {
    const commandId = randomUUID();
    const ids = { commandId, causationId: commandId, correlationId: commandId };
    return { ...ids, actor: 'anonymous', time: clock.now() };
  };
  const signUp = async (...events: readonly UserEvent[]) => {
    const email = `${randomUUID()}@example.com`;
    const input = { email, password, clientIp: null, userAgent: null };
    const { user, tokens } = await commands.register(input, context());
    const at = { aggregate: userAggregate, id: user.id };
    if (events.length > 0) await appendEvents(handler, at, events, clock.now());
    const credentials: readonly Header[] = [['authorization', `Bearer ${tokens.access_token}`]];
    return { userId: user.id, email, token: tokens.access_token, credentials };
  };

  /** Turns the second factor on for a user, whose session has passed it then. */
  const passTwoFactor = async ({ userId, token }: { readonly userId: string; readonly token: string }) => {
    const enrolment = context();
    await commands.enrolTotp({ userId }, enrolment);
    const enrolment_id = derivedId(enrolment, 'totp-enrolment');
    await appendEvents(
      handler,
      { aggregate: userAggregate, id: userId },
      [
        { type: 'TotpConfirmed', data: { enrolment_id, step: 1 } },
        { type: 'RecoveryCodesIssued', data: { digests: [digest] } },
      ],
      clock.now(),
    );
    const verdict = await accessTokens.verify(token);
    if (!verdict.valid) throw new Error(verdict.code);
    await appendEvents(
      handler,
      { aggregate: sessionAggregate, id: verdict.claims.sessionId },
      [{ type: 'SessionStrengthened', data: { method: 'otp', refresh: null } }],
      clock.now(),
    );
  };

  const owner = await signUp();
  const viewer = await signUp();
  const admin = await signUp();
  const twoFactor = await signUp();
  const platform = await signUp(
    { type: 'PlatformRoleGranted', data: { role: 'operator' } },
    { type: 'PlatformRoleGranted', data: { role: 'auditor' } },
  );
  // Operators who settle payments need a second factor.
  for (const person of [twoFactor, platform]) await passTwoFactor(person);

  const { resource: project } = await commands.createProject(
    { ownerId: owner.userId, name: 'Fuzz' },
    context(),
  );
  const key = makeApiKey(randomBytes);
  const nextMonth = new Date(clock.now().getTime() + 30 * 86_400_000).toISOString();
  const member = (userId: string, role: Role): ProjectEvent => ({
    type: 'MemberAdded',
    data: { user_id: userId, role, invitation_id: null },
  });
  await appendEvents(
    handler,
    { aggregate: projectAggregate, id: project.id },
    [
      { type: 'EntitlementGranted', data: { entitlement: 'allow_s3', source: 'operator' } },
      member(viewer.userId, 'viewer'),
      member(admin.userId, 'admin'),
      member(twoFactor.userId, 'owner'),
      {
        type: 'ApiKeyIssued',
        data: {
          ...{ key_id: randomUUID(), name: 'fuzz', digest: key.digest, prefix: key.prefix },
          ...{
            last_four: key.last_four,
            scopes: [...scopes],
            expires_at: nextMonth,
            issued_by: owner.userId,
          },
        },
      },
    ],
    clock.now(),
  );

  const payments = await makeWaitingPayments(service, owner.userId, context);

  const caller = (name: string, weight: number, credentials: readonly Header[]): FuzzCaller => {
    const ids = makeKnownIds();
    ids.learn('/api/v1/projects', {}, { id: project.id });
    const words = makeKnownWords();
    words.learn({ email: owner.email, password, current_password: password, order_id: payments.orderId });
    ids.learn('/api/v1/admin/payments', {}, { items: payments.ids.map((id) => ({ id })) });
    return { name, weight, credentials, ids, words };
  };
  return [
    caller('owner', 6, owner.credentials),
    caller('owner with two factors', 3, twoFactor.credentials),
    caller('admin', 3, admin.credentials),
    caller('viewer', 2, viewer.credentials),
    caller('operator and auditor', 2, platform.credentials),
    caller('API key', 2, [['x-api-key', key.key]]),
    caller('agent', 1, [['x-agent-secret', agentSecret]]),
    caller('anonymous', 3, []),
  ];
}
