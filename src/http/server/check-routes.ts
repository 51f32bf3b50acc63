import { z } from 'zod';
import type { ProjectPolicy } from '../access/access.js';
import { type Route, areaOf } from '../route.js';

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
  if (problems.length > 0) throw new Error(`routes are incomplete:\n${problems.join('\n')}`);
}

function problemsOf(route: Route): string[] {
  const { access, replies } = route;
  return [
    ...(access.kind === 'project' ? problemsOfProject(access, route) : []),
    ...problemsOfRequest(route),
    ...(Object.keys(replies).some((status) => status.startsWith('2')) ? [] : ['documents no success']),
  ];
}

function problemsOfProject({ auditors }: ProjectPolicy, { path, method }: Route): string[] {
  return [
    ...(path.includes(':projectId') ? [] : ['has no :projectId']),
    ...(auditors === 'admitted' && method !== 'GET' ? ['lets auditors change something'] : []),
  ];
}

function problemsOfRequest({ request, path, method }: Route): string[] {
  const problems: string[] = [];
  if (!(request.query instanceof z.ZodObject)) problems.push('has a query without a list of parameters');
  if (method === 'GET' && !(request.body instanceof z.ZodUndefined)) problems.push('takes a body');
  // The application finds routes by their area.
  if (areaOf(path).startsWith(':')) problems.push('has a parameter for its area');
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '').sort();
  const declared = request.params instanceof z.ZodObject ? Object.keys(request.params.shape).sort() : [];
  if (inPath.join() !== declared.join()) problems.push('its path and its parameters differ');
  return problems;
}
