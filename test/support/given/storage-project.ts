import type { ExecutionContext } from 'ava';
import type { Clock } from '../../../src/kit/time/clock.js';
import type { JsonObject, JsonValue } from '../../../src/event-sourcing/ports/domain-event.js';
import type { OutgoingOptions } from '../../../src/outgoing/outgoing-http.js';
import { eventually } from '../eventually.js';
import { makeDirectory } from '../servers/embedded-directory.js';
import { makeServiceClient, type ServiceReply, textOf } from '../clients/service-client.js';
import { type ServiceInProcess, grantStorageIn, startInProcess } from '../servers/service-in-process.js';

/** A service that may connect to storages on this machine, and a project that may bind them. */
export interface StorageProject {
  /** The path of the project. */
  readonly path: string;
  /** Sends a request as the project's owner. */
  readonly get: (path: string) => Promise<ServiceReply>;
  /** Sends a request of a visitor. */
  readonly visit: (path: string) => Promise<ServiceReply>;
  readonly send: (method: string, path: string, body?: JsonValue) => Promise<ServiceReply>;
  /** Binds a storage and returns its path. `bucketDefaults` completes the configuration. */
  readonly bind: (configuration: JsonObject) => Promise<string>;
  /** Waits until a storage has the status. */
  readonly until: (
    path: string,
    status: string,
    also?: (storage: JsonObject) => boolean,
  ) => Promise<JsonObject>;
}

const bucketDefaults = {
  ...{ name: 'Media', provider: 's3', bucket: 'media', base_path: 'videos' },
  credentials: { access_key: 'canary-access-key', secret_key: 'canary-secret-key' },
};

/** Starts a service with a project for one test. */
export async function givenStorageProject(
  t: ExecutionContext,
  options: StorageServiceOptions = {},
): Promise<StorageProject> {
  const service = await startStorageService(options);
  t.teardown(() => service.close());
  return service.project(t);
}

interface StorageServiceOptions {
  readonly clock?: Clock;
  readonly allowedCidrs?: string;
  readonly outgoing?: OutgoingOptions;
  /** Settings beside those of this function. */
  readonly environment?: Readonly<Record<string, string>>;
}

interface StorageService {
  /** Makes a project of a new account. */
  project(t: ExecutionContext): Promise<StorageProject>;
  close(): Promise<void>;
}

/** Starts a service for projects that do not affect one another. */
export async function startStorageService({
  clock,
  allowedCidrs = '127.0.0.0/8',
  outgoing,
  environment = {},
}: StorageServiceOptions = {}): Promise<StorageService> {
  const { directory, remove } = makeDirectory();
  const service = await startInProcess({
    directory,
    environment: { STORAGE_ALLOWED_CIDRS: allowedCidrs, ...environment },
    ...(clock === undefined ? {} : { clock }),
    ...(outgoing === undefined ? {} : { outgoing }),
  });
  let projects = 0;
  return {
    project: (t) => makeProject(t, service, `ada-${(projects += 1)}@example.org`),
    close: async () => {
      await service.close();
      remove();
    },
  };
}

async function makeProject(
  t: ExecutionContext,
  service: ServiceInProcess,
  owner: string,
): Promise<StorageProject> {
  const client = makeServiceClient(service.url);
  const { headers } = await client.register(owner, 'Correct-Horse-9');
  const projectId = await client.makeProject(headers, 'Rivers');
  await grantStorageIn(service, projectId);
  const path = `/api/v1/projects/${projectId}`;
  const send: StorageProject['send'] = (method, to, body) =>
    client.send(to, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const get = (to: string): Promise<ServiceReply> => client.get(to, headers);
  return {
    path,
    get,
    visit: (to) => client.get(to),
    send,
    bind: async (configuration) => {
      const reply = await send('POST', `${path}/storages`, { ...bucketDefaults, ...configuration });
      t.is(reply.status, 201, reply.text);
      return `${path}/storages/${textOf(reply.json(), 'id')}`;
    },
    until: (at, status, also = () => true) => {
      let found = '';
      return eventually(
        () => `the storage becomes ${status}, and is ${found}`,
        async () => {
          const reply = await get(at);
          found = reply.text;
          const storage = reply.json();
          return storage['status'] === status && also(storage) && storage;
        },
      );
    },
  };
}
