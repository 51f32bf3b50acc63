import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { v4 } from 'uuid';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { makeServiceClient, textOf } from '../support/clients/service-client.js';
import { appendAssets } from '../support/given/append-assets.js';
import { viewsAtHead } from '../support/given/backups.js';
import { makeDirectory } from '../support/servers/embedded-directory.js';
import { startInProcess } from '../support/servers/service-in-process.js';
import { startSmtpServer } from '../support/servers/smtp-server.js';
import { freePort, type ServiceProcess, startService } from '../support/servers/service-process.js';

const projects = 100;
/** Of the 60 storages, 20 a project, so many lead to names of which no server says anything. */
const [storages, ofProject, unnamed] = [60, 20, 20];
const assets = 2_200;
/** Imported objects that are playlists. */
const playlists = 20;

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

export const password = 'Correct-Horse-9';
export const accounts = { honest: 'honest@example.org', hostile: 'hostile@example.org' } as const;

/** What the attacks need, beside the URL of the service. */
export interface HostileScene {
  /** The project with many assets. */
  readonly project: string;
  /** The paths of storages in its bucket, and of those whose names nothing answers. */
  readonly storages: readonly string[];
  readonly unnamed: readonly string[];
  /** A storage whose objects are assets. */
  readonly imported: string;
  /** The token of a share with a password. */
  readonly share: string;
  /** The paths of assets with a playlist. */
  readonly playlists: readonly string[];
}

/** Makes an account with as much as its limits allow, in its own bucket, and starts the service with the limits of production. */
export async function givenHostileScene(): Promise<{
  readonly scene: HostileScene;
  readonly service: ServiceProcess;
  end(): Promise<void>;
}> {
  const { directory, remove } = makeDirectory();
  const port = await freePort();
  const program = fileURLToPath(new URL('./hostile-bucket.js', import.meta.url));
  const bucket = spawn(process.execPath, [program, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(bucket.stdout, 'data');
  // The bucket is the attacker's, and on another machine.
  setPriority(bucket.pid ?? 0, constants.priority.PRIORITY_LOW);
  const mail = await startSmtpServer();
  const endOthers = async () => {
    bucket.kill();
    await once(bucket, 'close');
    await mail.close();
    remove();
  };
  try {
    const environment = { STORAGE_ALLOWED_CIDRS: '127.0.0.0/8' };
    const scene = await givenAccounts(directory, `http://127.0.0.1:${port}`, environment);
    const service = await startService({
      directory,
      port: await freePort(),
      environment: {
        ...{ ...environment, LOG_LEVEL: 'silent', TRUSTED_PROXIES: '127.0.0.1' },
        PAYMENT_STANDARD_WEBHOOK_SECRETS: secret,
        ...{ SMTP_URL: mail.url, WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8' },
        WEBHOOK_URLS: `http://127.0.0.1:${port}/events ${secret} storage.*`,
      },
    });
    const end = async () => {
      await service.stop();
      await endOthers();
    };
    return { scene, service, end };
  } catch (error) {
    await endOthers();
    throw error;
  }
}

async function givenAccounts(
  directory: string,
  endpoint: string,
  environment: Readonly<Record<string, string>>,
): Promise<HostileScene> {
  const setUp = await startInProcess({ directory, environment });
  const client = makeServiceClient(setUp.url);
  const honest = await client.register(accounts.honest, password);
  await client.post('/api/v1/projects', { name: 'Film' }, honest.headers);
  const { headers } = await client.register(accounts.hostile, password);
  const make = async (path: string, body: JsonObject): Promise<string> => {
    const reply = await client.post(path, body, headers);
    if (reply.status !== 201) throw new Error(`POST ${path} was answered ${reply.status}: ${reply.text}`);
    return textOf(reply.json(), 'id');
  };
  const made: string[] = [];
  for (let n = 0; n < projects; n += 1) made.push(await make('/api/v1/projects', { name: `Film ${n}` }));
  const bound: string[] = [];
  const ids: string[] = [];
  for (let n = 0; n < storages; n += 1) {
    const projectId = made[Math.floor(n / ofProject)] ?? '';
    if (n % ofProject === 0) {
      const context = { commandId: v4(), causationId: v4(), correlationId: v4(), time: new Date() };
      const grant = { projectId, entitlement: 'allow_s3', source: 'operator' } as const;
      await setUp.services.commands.grantEntitlement(grant, { ...context, actor: 'operator' });
    }
    const at = `/api/v1/projects/${projectId}/storages`;
    const place = n < storages - unnamed ? endpoint : `https://bucket-${n}.example.invalid`;
    const id = await make(at, {
      ...{ name: `Rushes ${n}`, provider: 's3', bucket: 'rushes', region: 'eu-central-1', endpoint: place },
      ...{ base_path: 'videos', credentials: { access_key: 'AK', secret_key: 'SK' } },
    });
    ids.push(id);
    bound.push(`${at}/${id}`);
  }
  const [project = '', imported = ''] = [made[0], ids[0]];
  const path = `/api/v1/projects/${project}`;
  const page = await client.post(`${path}/assets/import`, { storage_id: imported, limit: 200 }, headers);
  const added = page.json()['added'] as readonly JsonObject[];
  const shown: string[] = [];
  for (const asset of added.slice(0, playlists)) {
    const at = `${path}/assets/${textOf(asset, 'id')}`;
    const rendition = {
      ...{ object_key: textOf(asset, 'object_key'), media_type: 'application/vnd.apple.mpegurl' },
      size: 50_000,
    };
    const init = {
      ...{ method: 'PUT', body: JSON.stringify(rendition) },
      headers: { ...headers, 'content-type': 'application/json' },
    };
    const reply = await client.send(`${at}/renditions/hls`, init);
    if (reply.status !== 200) throw new Error(`the rendition was answered ${reply.status}: ${reply.text}`);
    shown.push(at);
  }
  const shared = { asset_id: textOf(added[0] ?? {}, 'id'), password };
  const share = textOf((await client.post(`${path}/shares`, shared, headers)).json(), 'token');
  await appendAssets(setUp.services.eventStore, { from: 0, until: assets, project, storageId: imported });
  await viewsAtHead(setUp);
  await setUp.close();
  const named = storages - unnamed;
  return {
    ...{ project, imported, share, playlists: shown },
    ...{ storages: bound.slice(0, named), unnamed: bound.slice(named) },
  };
}
