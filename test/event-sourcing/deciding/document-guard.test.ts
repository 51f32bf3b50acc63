import test from 'ava';
import { projectsProjection } from '../../../projections/projects/projects/projection.js';
import { usersProjection } from '../../../projections/accounts/users/projection.js';
import type { ProjectEvent } from '../../../src/areas/projects/domain/project/events.js';
import { scopes } from '../../../src/areas/projects/domain/role.js';
import type { UserEvent } from '../../../src/areas/accounts/domain/user/events.js';
import { makeCommandHandler } from '../../../src/event-sourcing/deciding/make-command-handler.js';
import { documentBytes, maxDocumentBytes } from '../../../src/event-sourcing/ports/read-model-store.js';
import { DocumentTooLarge } from '../../../src/event-sourcing/ports/errors.js';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import {
  counterAggregate,
  type CounterCommand,
  countersProjection,
  contextOf,
} from '../../support/kernel/counters.js';
import { memberId, projectCreated } from '../../support/examples/project.js';
import { sealedExample } from '../../support/examples/sealed.js';
import { userRegistered } from '../../support/examples/user.js';
import { recordEvents } from '../../support/given/given-events.js';
import { givenWorld, withoutViews } from '../../support/kernel/world.js';

/** A view whose document grows by 1 MiB with each addition. */
const growing: Projection = {
  ...countersProjection,
  name: 'growing',
  evolve: (document, event) => {
    const next = countersProjection.evolve(document as never, event as never);
    return next === null ? null : { ...next, text: 'x'.repeat(next.additions * 1024 * 1024) };
  },
};

test('A command that would make a document too large is refused before its append, and a smaller one passes', async (t) => {
  // Given a document that each addition makes larger
  const world = givenWorld();
  const { eventStore } = world;
  const documentWriter = { ...withoutViews, viewsOf: () => [growing] };
  const handler = makeCommandHandler({ ...world, documentWriter });
  let n = 0;
  const send = (command: CounterCommand) => {
    n += 1;
    return handler.handle({ aggregate: counterAggregate, id: 'c1' }, command, contextOf(n));
  };
  const add = () => send({ type: 'Add', operation: `o${n}`, amounts: [1] });
  await send({ type: 'Open', label: 'a' });
  for (let addition = 1; addition <= 11; addition += 1) await add();
  // When it would exceed 12 MiB
  await t.throwsAsync(add(), { instanceOf: DocumentTooLarge });
  // Then nothing is appended, and a command that makes the document smaller passes
  t.is((await eventStore.read('counter-c1')).length, 12);
  await t.throwsAsync(add(), { instanceOf: DocumentTooLarge });
  await send({ type: 'Close' });
  t.is((await eventStore.read('counter-c1')).length, 13);
});

test('The largest project and user that the limits allow are far below the limit of a document', (t) => {
  const orders = Array.from({ length: 5_000 }, (_, n) => memberId(n));
  const grants = orders.map((source): ProjectEvent => ({
    type: 'EntitlementGranted',
    data: { entitlement: 'allow_s3', source },
  }));
  const invitations = Array.from({ length: 199 }, (_, n): ProjectEvent => ({
    type: 'MemberInvited',
    data: {
      invitation_id: memberId(n),
      email: sealedExample(`${'a'.repeat(240)}@example.com`),
      email_digest: 'd'.repeat(64),
      role: 'viewer',
      invited_by: memberId(0),
    },
  }));
  const keys = Array.from({ length: 100 }, (_, n): ProjectEvent => ({
    type: 'ApiKeyIssued',
    data: {
      key_id: memberId(n),
      name: '界'.repeat(64),
      ...{ digest: 'd'.repeat(64), prefix: 'stw_aaaa', last_four: 'aaaa', scopes: [...scopes] },
      ...{ expires_at: '2027-01-01T00:00:00.000Z', issued_by: memberId(0) },
    },
  }));
  const capacities = orders.map((source): UserEvent => ({
    type: 'CapacityGranted',
    data: { source, bytes: 1 },
  }));
  const project = fold(projectsProjection, [projectCreated, ...invitations, ...keys, ...grants]);
  const user = fold(usersProjection, [userRegistered, ...capacities]);
  t.true(documentBytes(project) < maxDocumentBytes / 10, String(documentBytes(project)));
  t.true(documentBytes(user) < maxDocumentBytes / 10, String(documentBytes(user)));
});

function fold(view: Projection, events: readonly (ProjectEvent | UserEvent)[]): JsonObject | null {
  const stored = recordEvents({ category: view.category, codec: view.codec as never }, memberId(1), events);
  return stored.reduce<JsonObject | null>(
    (document, event) => view.evolve(document, view.codec.decode(event)),
    null,
  );
}
