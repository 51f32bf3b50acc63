import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Block } from './blocks.js';

/** The two terminals of a person who follows the commands of a file. */
export interface Terminals {
  /** Starts the service by all the blocks of the first terminal so far, and waits until it is ready. */
  start(blocks: readonly Block[]): Promise<void>;
  /** Runs a block where the one before has left off. @returns what it has printed. @throws Error when a command of it fails */
  run(block: Block): Promise<string>;
  /** Closes both. */
  close(): Promise<void>;
}

interface Where {
  /** Of the clone, or of what looks like one. */
  readonly directory: string;
  /** In place of the one that the file names, which may be taken. */
  readonly port: number;
  /** Of the service's metrics. */
  readonly metricsPort: number;
  /** What the second terminal has in its environment: how servers of the reader are reached. */
  readonly variables: Readonly<Record<string, string>>;
}

const readyMsMax = 120_000;
const blockMsMax = 300_000;
/** The ports that the documents name. */
const printedPlaces = {
  service: '127.0.0.1:8080',
  metrics: '127.0.0.1:9100',
  metricsPort: 'METRICS_PORT=9100',
} as const;

/** Everything is installed and built, and only the last block starts the service: the ones before it prepare the terminal. */
const npmBefore = 'npm() { :; }';
const npmAtLast = 'npm() { if [ "$1" = start ]; then exec node dist/cli.js serve; fi; }';

/** Reactions whose work a `sleep` of the documents waits for. */
const awaited = '(settle-payments|fulfil-orders|probe-storages|mail-login-codes|mail-invitations)';

/**
 * Ends at a status of 400 or more, and at a variable that was never set. A script types faster than a person, and a busy machine
 * answers later, so it sleeps longer than the document says, and on until the awaited reactions have no open event.
 */
const client = `
set -euo pipefail
exec 3<&0 </dev/null 2>&1
curl() { command curl --fail-with-body --show-error --max-time 60 "$@"; }
sleep() {
  command sleep $((3 * $1))
  local quiet=0 metrics
  for _ in $(seq 240); do
    metrics=$(command curl --silent --fail --max-time 60 "$METRICS")
    quiet=$((quiet + 1))
    if grep -qE '^stowage_reaction_open_events.*${awaited}.* [1-9]' <<<"$metrics"; then quiet=0; fi
    if [ "$quiet" -ge 2 ]; then return; fi
    command sleep 0.5
  done
}
while read -r block <&3; do
  . "$block"
  printf '\\n-- %s has ended --\\n' "$block"
done
`;

/** Opens the terminals: Bash, with nothing of the caller's environment. */
export function openTerminals({ directory, port, metricsPort, variables }: Where): Terminals {
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: directory,
  };
  const second = spawn('bash', ['-c', client], {
    cwd: directory,
    env: { ...environment, ...variables, METRICS: `http://127.0.0.1:${metricsPort}/metrics` },
  });
  const ended = once(second, 'close');
  let printed = '';
  let service: ChildProcessWithoutNullStreams | null = null;
  const scripted = async (name: string, text: string): Promise<string> => {
    const file = join(directory, name);
    await writeFile(file, withOwnPorts(text));
    return file;
  };

  const withOwnPorts = (text: string): string =>
    text
      .replaceAll(printedPlaces.service, `127.0.0.1:${port}`)
      .replaceAll(printedPlaces.metrics, `127.0.0.1:${metricsPort}`)
      .replaceAll(printedPlaces.metricsPort, `METRICS_PORT=${metricsPort}`);

  return {
    start: async (blocks) => {
      await stop();
      const commands = blocks.map((block) => block.commands);
      const [last, before] = [commands.pop(), commands];
      const file = await scripted(
        'service.sh',
        ['set -euo pipefail', npmBefore, ...before, npmAtLast, last, ''].join('\n'),
      );
      service = spawn('bash', [file], {
        cwd: directory,
        env: { ...environment, PORT: String(port), METRICS_PORT: String(metricsPort) },
        // A separate group: the service may be one process of a pipe.
        detached: true,
      });
      await untilReady(service, port);
    },
    run: async (block) => {
      printed = '';
      const file = await scripted(`block-${block.line}.sh`, `${block.commands}\n`);
      const done = new Promise<string>((resolve) => {
        second.stdout.removeAllListeners('data').on('data', (chunk: Buffer) => {
          printed += chunk.toString();
          if (printed.includes(`-- ${file} has ended --`)) resolve('done');
        });
      });
      second.stdin.write(`${file}\n`);
      const late = once(AbortSignal.timeout(blockMsMax), 'abort').then(() => 'took too long');
      const outcome = await Promise.race([done, ended.then(() => 'failed'), late]);
      if (outcome !== 'done') throw new Error(`it ${outcome}, and printed:\n${printed}`);
      return printed;
    },
    close: async () => {
      second.kill('SIGKILL');
      await Promise.all([ended, stop()]);
    },
  };

  async function stop(): Promise<void> {
    if (service === null || service.exitCode !== null || service.signalCode !== null) return;
    const stopped = once(service, 'close');
    interrupt(service);
    await stopped;
  }
}

/** Ctrl-C in its terminal. */
function interrupt({ pid }: ChildProcessWithoutNullStreams): void {
  if (pid !== undefined) process.kill(-pid, 'SIGINT');
}

async function untilReady(service: ChildProcessWithoutNullStreams, port: number): Promise<void> {
  let said = '';
  for (const stream of [service.stdout, service.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  }
  const deadline = Date.now() + readyMsMax;
  while (service.exitCode === null && Date.now() < deadline) {
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      (reply) => reply.ok,
      () => false,
    );
    if (ready) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  if (service.exitCode === null) interrupt(service);
  throw new Error(`the service did not become ready:\n${said}`);
}
