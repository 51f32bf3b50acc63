import test from 'ava';
import { makeTasks, type Task } from '../../../../src/event-sourcing/feeding/consumers/tasks.js';

interface Fake extends Task {
  readonly name: string;
  isEnding: boolean;
  finish(): void;
}

function given() {
  const started: Fake[] = [];
  const tasks = makeTasks<Fake>();
  const start = (name: string) => (): Fake => {
    let finish = (): void => undefined;
    const done = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const task: Fake = {
      ...{ name, isEnding: false, done, finish },
      end: () => {
        task.isEnding = true;
      },
    };
    started.push(task);
    return task;
  };
  return {
    ...{ tasks, started },
    want: (...names: readonly string[]) => tasks.adjust(new Map(names.map((name) => [name, start(name)]))),
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('Wanted tasks start once, and a task that is not wanted ends', (t) => {
  const { tasks, started, want } = given();
  want('a', 'b');
  want('a', 'b');
  t.deepEqual(
    started.map(({ name }) => name),
    ['a', 'b'],
  );
  want('b');
  t.true(started[0]?.isEnding);
  t.deepEqual(
    tasks.all().map(({ name }) => name),
    ['b'],
  );
  t.is(tasks.get('a'), null);
});

test('A task that is wanted again while its predecessor ends starts after it', async (t) => {
  const { started, want } = given();
  want('a');
  want();
  want('a');
  await turn();
  t.is(started.length, 1);
  started[0]?.finish();
  await turn();
  t.is(started.length, 2);
});

test('A task that was wanted again and then not any more does not start', async (t) => {
  const { started, want } = given();
  want('a');
  want();
  want('a');
  want();
  started[0]?.finish();
  await turn();
  t.is(started.length, 1);
});

test('A stop ends all tasks, waits for those that end already, and starts none', async (t) => {
  const { tasks, started, want } = given();
  want('a', 'b');
  want('b');
  let hasStopped = false;
  const stopping = tasks.stop().then(() => {
    hasStopped = true;
  });
  t.true(started.every(({ isEnding }) => isEnding));
  started[1]?.finish();
  await turn();
  t.false(hasStopped);
  want('a', 'b', 'c');
  started[0]?.finish();
  await stopping;
  t.is(started.length, 2);
});
