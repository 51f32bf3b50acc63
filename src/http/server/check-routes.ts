import { z } from 'zod';
import { accessMatrix } from '../access/access-matrix.js';
import type { Policy, ProjectPolicy } from '../access/access.js';
import { type Route, areaOf } from '../route.js';

const kinds = new Set(['public', 'session', 'project', 'agent', 'operator', 'auditor']);

/** Checks facts of a declaration that types cannot express. @throws Error naming every problem */
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
  refuse(problems);
}

/** Checks that routes and access matrix agree. @throws Error naming every problem */
export function checkAccessMatrix(
  routes: readonly Pick<Route, 'name' | 'access'>[],
  matrix: Readonly<Record<string, Policy>> = accessMatrix,
): void {
  const served = new Set(routes.map(({ name }) => name));
  refuse([
    ...routes.flatMap(({ name, access }) => {
      if (!Object.hasOwn(matrix, name)) return [`${name} is not in the access matrix`];
      return access === matrix[name] ? [] : [`${name} has another policy than the access matrix`];
    }),
    ...Object.keys(matrix)
      .filter((name) => !served.has(name))
      .map((name) => `${name} is in the access matrix, and no route serves it`),
  ]);
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(`routes are incomplete:\n${problems.join('\n')}`);
}

function problemsOf(route: Partial<Route>): string[] {
  const { access } = route;
  return [
    ...(access === undefined || !kinds.has(access.kind) ? ['has no access policy'] : []),
    ...(access?.kind === 'project' ? problemsOfProject(access, route) : []),
    ...problemsOfRequest(route),
    ...problemsOfReplies(route.replies ?? {}),
  ];
}

function problemsOfProject({ auditors }: ProjectPolicy, { path, method }: Partial<Route>): string[] {
  return [
    ...(path?.includes(':projectId') === true ? [] : ['has no :projectId']),
    ...(auditors === 'admitted' && method !== 'GET' ? ['lets auditors change something'] : []),
  ];
}

function problemsOfRequest({ request, path, method }: Partial<Route>): string[] {
  const parts = ['params', 'query', 'body'] as const;
  const problems = parts
    .filter((part) => !(request?.[part] instanceof z.ZodType))
    .map((part) => `has no schema for its ${part}`);
  if (!(request?.query instanceof z.ZodObject)) problems.push('has a query without a list of parameters');
  if (method === 'GET' && !(request?.body instanceof z.ZodUndefined)) problems.push('takes a body');
  // The application finds routes by their area.
  if (areaOf(path ?? '').startsWith(':')) problems.push('has a parameter for its area');
  const inPath = [...(path ?? '').matchAll(/:(\w+)/g)].map(([, name]) => name ?? '').sort();
  const declared = request?.params instanceof z.ZodObject ? Object.keys(request.params.shape).sort() : [];
  if (inPath.join() !== declared.join()) problems.push('its path and its parameters differ');
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
