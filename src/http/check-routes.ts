import { z } from 'zod';
import type { Route } from './route.js';

const kinds = new Set(['public', 'session', 'project', 'agent', 'operator']);

/**
 * Refuses to start with a route that does not say who may call it, what it takes and what it answers. Types demand the
 * same; this holds for what types cannot see, such as the parameters in a path.
 */
export function checkRoutes(routes: readonly Route[]): void {
  const problems = routes.flatMap((route) =>
    problemsOf(route).map((problem) => `${route.method} ${route.path}: ${problem}`),
  );
  for (const key of ['name', 'path'] as const) {
    const seen = new Set<string>();
    for (const route of routes) {
      const id = key === 'path' ? `${route.method} ${route.path}` : route.name;
      if (seen.has(id)) problems.push(`${id} is declared twice`);
      seen.add(id);
    }
  }
  if (problems.length > 0) throw new Error(`routes are not fit to be served:\n${problems.join('\n')}`);
}

function problemsOf(route: Partial<Route>): string[] {
  const { access } = route;
  return [
    ...(access === undefined || !kinds.has(access.kind) ? ['has no access policy'] : []),
    ...problemsOfRequest(route),
    ...problemsOfReplies(route.replies ?? {}),
  ];
}

function problemsOfRequest({ request, path, method, access }: Partial<Route>): string[] {
  const parts = ['params', 'query', 'body'] as const;
  const problems = parts
    .filter((part) => !(request?.[part] instanceof z.ZodType))
    .map((part) => `has no schema for its ${part}`);
  if (method === 'GET' && !(request?.body instanceof z.ZodUndefined)) problems.push('takes a body');
  const inPath = [...(path ?? '').matchAll(/:(\w+)/g)].map(([, name]) => name ?? '').sort();
  const declared = request?.params instanceof z.ZodObject ? Object.keys(request.params.shape).sort() : [];
  if (inPath.join() !== declared.join()) problems.push('its path and its parameters differ');
  if (access?.kind === 'project' && !inPath.includes('projectId')) problems.push('has no :projectId');
  return problems;
}

function problemsOfReplies(replies: Partial<Route>['replies'] & object): string[] {
  const statuses = Object.entries(replies);
  return [
    ...(statuses.some(([status]) => status.startsWith('2')) ? [] : ['documents no success']),
    ...statuses
      .filter(([, reply]) => !(reply.schema instanceof z.ZodType))
      .map(([status]) => `has no schema for its reply ${status}`),
  ];
}
