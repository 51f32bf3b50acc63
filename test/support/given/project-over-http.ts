import type { ExecutionContext } from 'ava';
import type { Answer } from '../clients/http-app.js';
import { startTestService, type TestService } from '../servers/http-service.js';

export type Headers = Readonly<Record<string, string>>;

/** What tests read of a resource that was made. */
export type Made = Readonly<Record<string, unknown>> & { readonly id: string };

export interface OwnedProject extends TestService {
  readonly owner: Awaited<ReturnType<TestService['signUp']>>;
  readonly project: string;
  /** The path of the project. */
  readonly at: string;
  /** The id of its storage. */
  readonly storage_id: string;
  /** Sends a request of the owner, unless other headers are given. */
  readonly send: (method: string, path: string, json?: unknown, headers?: Headers) => Promise<Answer>;
  /** Makes a resource below the path of the project. */
  readonly make: (path: string, body: object) => Promise<Made>;
  /** Binds another storage to the project, or to one with another path. @returns its id */
  readonly bind: (changes?: object, at?: string) => Promise<string>;
  /** Sends the file of an asset in its storage. */
  readonly addAsset: (changes?: object) => Promise<Answer>;
}

const bucket = {
  ...{ name: 'Media', provider: 's3', bucket: 'rivers', region: 'eu-west-1' },
  credentials: { access_key: 'canary-key', secret_key: 'canary-secret' },
};

/** Starts a service with a project of an owner, and a bucket that is bound to it. */
export async function givenOwnedProject(
  t: ExecutionContext,
  overrides: Parameters<typeof startTestService>[1] = {},
  storage: object = {},
): Promise<OwnedProject> {
  const service = await startTestService(t, overrides);
  const owner = await service.signUp('owner');
  const project = await service.makeProject(owner);
  const at = `/api/v1/projects/${project}`;
  const send: OwnedProject['send'] = (method, path, json, headers = owner) =>
    service.ask(path, { method, headers, ...(json === undefined ? {} : { json }) });
  const post = async (path: string, body: object): Promise<Made> => {
    const answer = await send('POST', path, body);
    t.is(answer.status, 201, answer.text);
    return answer.json as Made;
  };
  const bind: OwnedProject['bind'] = async (changes = {}, of = at) =>
    (await post(`${of}/storages`, { ...bucket, ...changes })).id;
  const storage_id = await bind(storage);
  let added = 0;
  return {
    ...{ ...service, owner, project, at, storage_id, send, bind },
    make: (path, body) => post(`${at}/${path}`, body),
    addAsset: (changes = {}) => {
      added += 1;
      const file = { name: 'Rhine', object_key: `file ${added}`, media_type: 'video/mp4', size: 1_000 };
      return send('POST', `${at}/assets`, { ...file, storage_id, ...changes });
    },
  };
}

/** Returns the status and the code of a refusal. */
export const refusalOf = ({ status, json }: Answer): readonly [number, string | undefined] => [
  status,
  (json as { readonly code?: string } | null)?.code,
];

/** Asserts that a request is refused: `409 conflict`. */
export async function refuses(
  t: ExecutionContext,
  asked: Answer | Promise<Answer>,
  expected: string,
): Promise<void> {
  const answer = await asked;
  t.is(refusalOf(answer).join(' '), expected, answer.text);
}
