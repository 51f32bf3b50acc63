import type { Clock, Random } from '../../../../src/kit/time/clock.js';
import type { CommandHandler, Handled } from '../../../../src/event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../../src/event-sourcing/ports/command-context.js';
import { makeDocumentWriter } from '../../../../src/event-sourcing/views/document-writer.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import {
  type Generations,
  makeGenerations,
} from '../../../../src/event-sourcing/views/generations/generations.js';
import { makeCommandHandler } from '../../../../src/event-sourcing/deciding/make-command-handler.js';
import { type Lease, makeSoleLease } from '../../../../src/event-sourcing/feeding/consumers/lease.js';
import { makeViews } from '../../../../src/event-sourcing/views/make-views.js';
import type { AnyProjection } from '../../../../src/event-sourcing/views/projection.js';
import {
  type ProjectionRunner,
  startProjections,
} from '../../../../src/event-sourcing/feeding/projectors/projection-runner.js';
import type { ReadModelStore } from '../../../../src/event-sourcing/ports/read-model-store.js';
import type { Views } from '../../../../src/event-sourcing/views/views.js';
import {
  counterAggregate,
  type CounterCommand,
  type CounterEvent,
} from '../../examples/counter-aggregate.js';
import { counterLabelsProjection, countersProjection } from '../../examples/counter-views.js';

/** One process of the service: the kernel over stores that it may share with other processes. */
export interface GivenProcess {
  readonly generations: Generations;
  readonly handler: CommandHandler;
  readonly views: Views;
  /** The reports of the write-through and the projections, as sentences. */
  readonly reports: string[];
  startProjections(watched?: { readonly generations: Generations }): Promise<ProjectionRunner>;
}

/** @param deps.projections defaults to the two views of the counters */
export async function givenProcess(deps: {
  readonly clock: Clock;
  readonly random: Random;
  readonly eventStore: EventStore;
  readonly readModelStore: ReadModelStore;
  readonly projections?: readonly AnyProjection[];
  /** Default: the process feeds everything. */
  readonly lease?: Lease;
}): Promise<GivenProcess> {
  const { clock, random, eventStore, readModelStore, lease = makeSoleLease('process 1') } = deps;
  const projections = deps.projections ?? [countersProjection, counterLabelsProjection];
  const reports: string[] = [];
  const report = (what: string, error: unknown): void => {
    reports.push(`${what}: ${String(error)}`);
  };
  const generations = makeGenerations({ projections, readModelStore, clock });
  await generations.start();
  const documentWriter = makeDocumentWriter({
    generations,
    readModelStore,
    clock,
    onFailure: (error) => {
      report('write-through', error);
    },
  });
  return {
    generations,
    handler: makeCommandHandler({ eventStore, documentWriter, clock, random }),
    views: makeViews({ generations, readModelStore, eventStore }),
    reports,
    startProjections: (watched = { generations }) =>
      startProjections(
        { ...watched, lease, eventStore, readModelStore, documentWriter, clock, random },
        {
          onRetry: (what, error) => {
            report(`retry ${what}`, error);
          },
          onStopped: (collection, error) => {
            report(`stopped ${collection}`, error);
          },
          onRebuilt: (collection, { compared, different }) => {
            reports.push(`rebuilt ${collection}: ${different} of ${compared} differ`);
          },
        },
      ),
  };
}

/** Returns the context of a command. The same number is the same command. */
export function contextOf(n: number, time = new Date('2026-01-02T03:04:05.000Z')): CommandContext {
  const commandId = `018f0000-0000-7000-8000-${String(n).padStart(12, '0')}`;
  return { commandId, causationId: commandId, correlationId: commandId, actor: 'anonymous', time };
}

/** Sends a command to the counter `id`. The same number is the same command. */
export function sendToCounter(
  handler: CommandHandler,
  id: string,
  command: CounterCommand,
  n: number,
): Promise<Handled<CounterEvent>> {
  return handler.handle({ aggregate: counterAggregate, id }, command, contextOf(n));
}
