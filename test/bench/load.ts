import autocannon from 'autocannon';

export const connections = 32;
const seconds = 2;

export type Requests = Pick<autocannon.Options, 'method' | 'headers' | 'body' | 'requests' | 'setupClient'>;

interface Target {
  readonly url: string;
  /** Defaults to 200. Any other status makes the figure worthless. */
  readonly status?: number;
}

/** Returns requests per second, over 2 s. */
export async function load({ status = 200, ...options }: Requests & Target): Promise<number> {
  const result = await autocannon({ ...options, connections, duration: seconds });
  return countAnswered(result, status) / result.duration;
}

/** Returns requests per second up to the last reply of a number of requests. autocannon reads its clock each second. */
export function loadCounted({
  status = 200,
  ...options
}: Requests & Target & { readonly amount: number }): Promise<number> {
  return new Promise((resolve, reject) => {
    const beganAt = performance.now();
    let endedAt = beganAt;
    const run = autocannon({ ...options, connections }, (error: Error | null, result) => {
      if (error !== null) {
        reject(error);
        return;
      }
      resolve((countAnswered(result, status) * 1_000) / (endedAt - beganAt));
    });
    run.on('response', () => {
      endedAt = performance.now();
    });
  });
}

function countAnswered(result: autocannon.Result, status: number): number {
  const answered = new Map(Object.entries(result.statusCodeStats ?? {})).get(String(status))?.count ?? 0;
  const others = result.requests.total - answered;
  if (others > 0 || result.errors > 0) {
    const statuses = JSON.stringify(result.statusCodeStats);
    throw new Error(`${others} other replies than ${status}, ${result.errors} errors: ${statuses}`);
  }
  return answered;
}
