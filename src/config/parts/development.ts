import { isLoopbackHost } from '../../mail/smtp-url.js';
import type { Environment } from '../sources.js';

/**
 * Returns what to change so that a start is one for development: one machine is the whole service, and no other machine
 * reaches it. Empty for a start for development.
 * @param environment all variables that are set
 */
export function changesForDevelopment(environment: Environment): readonly string[] {
  const { HOST, PUBLIC_URL, NODE_ENV } = environment;
  return [
    ...['EVENTSTOREDB_URL', 'MONGODB_URL', 'TRUSTED_PROXIES']
      .filter((name) => environment[name] !== undefined)
      .map((name) => `unset ${name}`),
    ...(HOST === undefined || isLoopbackHost(HOST) ? [] : ['set HOST to 127.0.0.1']),
    ...(PUBLIC_URL === undefined || isLoopbackOrigin(PUBLIC_URL)
      ? []
      : ['unset PUBLIC_URL or set it to an origin of this machine such as http://127.0.0.1:8080']),
    ...(NODE_ENV === 'production' ? ['set NODE_ENV to another value than production'] : []),
  ];
}

/**
 * Returns the seconds that a process serves after it reports that it ends. A balancer sees the report within 5 s. A start
 * for development has no balancer.
 * @param environment all variables that are set
 */
export function drainSecondsOf(chosen: number | undefined, environment: Environment): number {
  return chosen ?? (changesForDevelopment(environment).length === 0 ? 0 : 5);
}

function isLoopbackOrigin(text: string): boolean {
  return URL.canParse(text) && isLoopbackHost(new URL(text).hostname.replace(/^\[|\]$/g, ''));
}
