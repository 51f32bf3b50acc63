import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Block } from './blocks.js';

/** The two terminals of somebody who follows a file's commands. */
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
}

const readyMsMax = 120_000;
const blockMsMax = 300_000;
const printedAddress = '127.0.0.1:8080';

/** An earlier `npm start` has been stopped; building has been done. */
const npmForService = `
starts=0
npm() {
  starts=$((starts + 1))
  if [ "$starts" -eq "$STARTS" ]; then exec node dist/src/cli.js serve; fi
}
`;

/**
 * A status of 400 or more, a variable that was never set and a value that a reply lacks all end it. Nobody types as fast as a script,
 * least of all on a busy machine, so it sleeps longer, and on until no payment and no order waits for anything.
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
    if grep -qE '^stowage_reaction_open_events.*(settle-payments|fulfil-orders).* [1-9]' <<<"$metrics"; then quiet=0; fi
    if [ "$quiet" -ge 2 ]; then return; fi
    command sleep 0.5
  done
}
while read -r block <&3; do
  . "$block"
  if declare -p | grep '="undefined"$'; then exit 1; fi
  printf '\\n-- %s has ended --\\n' "$block"
done
`;

/** Opens the terminals: Bash, with nothing of the caller's environment. */
export function openTerminals({ directory, port, metricsPort }: Where): Terminals {
  const environment = { PATH: process.env['PATH'] ?? '', HOME: directory };
  const second = spawn('bash', ['-c', client], {
    cwd: directory,
    env: { ...environment, METRICS: `http://127.0.0.1:${metricsPort}/metrics` },
  });
  const ended = once(second, 'close');
  let printed = '';
  let service: ChildProcessWithoutNullStreams | null = null;
  const scripted = async (name: string, text: string): Promise<string> => {
    const file = join(directory, name);
    await writeFile(file, text.replaceAll(printedAddress, `127.0.0.1:${port}`));
    return file;
  };

  return {
    start: async (blocks) => {
      await stop();
      const commands = blocks.map((block) => block.commands).join('\n');
      const file = await scripted('service.sh', `set -euo pipefail\n${npmForService}${commands}\n`);
      service = spawn('bash', [file], {
        cwd: directory,
        env: {
          ...environment,
          ...{ STARTS: String(blocks.length), PORT: String(port), METRICS_PORT: String(metricsPort) },
        },
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
    const stopped = once(service, 'exit');
    service.kill('SIGTERM');
    await stopped;
  }
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
  service.kill('SIGKILL');
  throw new Error(`the service did not become ready:\n${said}`);
}
