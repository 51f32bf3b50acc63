import type { Clock, Random } from '../../../src/event-sourcing/clock.js';
import type { CommandContext, CommandHandler, Handled } from '../../../src/event-sourcing/command-handler.js';
import { makeDocumentWriter } from '../../../src/event-sourcing/document-writer.js';
import type { EventStore } from '../../../src/event-sourcing/event-store.js';
import { type Generations, makeGenerations } from '../../../src/event-sourcing/generations.js';
import { makeCommandHandler } from '../../../src/event-sourcing/make-command-handler.js';
import { makeViews } from '../../../src/event-sourcing/make-views.js';
import type { AnyProjection } from '../../../src/event-sourcing/projection.js';
import { type ProjectionRunner, startProjections } from '../../../src/event-sourcing/projection-runner.js';
import type { ReadModelStore } from '../../../src/event-sourcing/read-model-store.js';
import type { Views } from '../../../src/event-sourcing/views.js';
import { counterAggregate, type CounterCommand, type CounterEvent } from '../../support/counter-aggregate.js';
import { counterLabelsProjection, countersProjection } from '../../support/counter-views.js';

/** One process of the service: the kernel over stores that it may share with other processes. */
export interface GivenProcess {
  readonly generations: Generations;
  readonly handler: CommandHandler;
  readonly views: Views;
  /** What the write-through and the projections reported, as sentences. */
  readonly reports: string[];
  startProjections(): Promise<ProjectionRunner>;
}

/** @param deps.projections the counters' two views when left out */
export async function givenProcess(deps: {
  readonly clock: Clock;
  readonly random: Random;
  readonly eventStore: EventStore;
  readonly readModelStore: ReadModelStore;
  readonly projections?: readonly AnyProjection[];
}): Promise<GivenProcess> {
  const { clock, random, eventStore, readModelStore } = deps;
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
    startProjections: () =>
      startProjections(
        { generations, eventStore, readModelStore, documentWriter, clock, random },
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

/** A command's context; the same number is the same command. */
export function contextOf(n: number, time = new Date('2026-01-02T03:04:05.000Z')): CommandContext {
  const commandId = `018f0000-0000-7000-8000-${String(n).padStart(12, '0')}`;
  return { commandId, causationId: commandId, correlationId: commandId, actor: 'anonymous', time };
}

/** Sends a command to the counter `id`; the same number is the same command. */
export function sendToCounter(
  handler: CommandHandler,
  id: string,
  command: CounterCommand,
  n: number,
): Promise<Handled<CounterEvent>> {
  return handler.handle({ aggregate: counterAggregate, id }, command, contextOf(n));
}
