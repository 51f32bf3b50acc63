import type { Environment } from '../servers/service-process.js';

const names = ['JWT_KEYS', 'MASTER_KEYS', 'REFRESH_KEYS', 'CODE_KEYS', 'PEPPERS', 'AUDIT_SIGNING_KEYS'];

/** Every key that a service on EventStoreDB or MongoDB needs from its environment; the same in every run. */
export const keyEnvironment: Environment = {
  ...Object.fromEntries(names.map((name) => [name, `k1:${keyText(name)}`] as const)),
  INDEX_KEY: keyText('INDEX_KEY'),
};

function keyText(name: string): string {
  return Buffer.alloc(32, name).toString('base64url');
}
