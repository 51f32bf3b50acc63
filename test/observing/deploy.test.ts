import { readFile } from 'node:fs/promises';
import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import { givenInProcess } from '../support/servers/service-in-process.js';

const alertsFile = 'deploy/prometheus/alerts.yml';
const dashboardFile = 'deploy/grafana/stowage.json';
const schemaFile = 'deploy/grafana/dashboard.schema.json';

/** Prometheus sets it for each target. */
const ofPrometheus = new Set(['up']);

const dashboard = z.object({
  panels: z.array(
    z.object({
      id: z.number(),
      title: z.string(),
      targets: z.array(z.object({ refId: z.string(), expr: z.string() })).optional(),
    }),
  ),
});

async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8'));
}

/** Returns the names of the series that a running service serves, and the labels of each. */
async function servedSeries(
  t: ExecutionContext,
): Promise<{ readonly names: ReadonlySet<string>; readonly own: readonly string[] }> {
  const service = await givenInProcess(t);
  const types = [...(await service.metrics()).matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  const series = types.flatMap(([, name = '', type]) =>
    type === 'histogram' || type === 'summary' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  const own = types.map(([, name = '']) => name).filter((name) => name.startsWith('stowage_'));
  return { names: new Set(series), own };
}

/** Returns the metrics of a query: the names that are no function, keyword, label or text. */
function metricsOf(query: string): readonly string[] {
  const withoutLabels = query
    .replaceAll(/\{[^}]*\}/g, ' ')
    .replaceAll(/\b(?:by|without)\s*\([^)]*\)/g, ' ')
    .replaceAll(/\[[^\]]*\]/g, ' ');
  const names = [...withoutLabels.matchAll(/[a-zA-Z_:][\w:]*(?!\w*\s*\()/g)].map(([name]) => name);
  const keywords = new Set(['and', 'or', 'unless', 'on', 'ignoring']);
  return names.filter((name) => !keywords.has(name) && !new RegExp(`${name}\\s*\\(`).test(withoutLabels));
}

test('The alert rules and the dashboard use only metrics that the service serves', async (t) => {
  const { names } = await servedSeries(t);
  const alerts = await readFile(alertsFile, 'utf8');
  const rules = [...alerts.matchAll(/^ +expr: (.+)$/gm)].map(([, expr = '']) => expr);
  t.is(rules.length, [...alerts.matchAll(/- alert: /g)].length, 'each rule has its query on one line');
  const { panels } = dashboard.parse(await readJson(dashboardFile));
  const queries = [...rules, ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))];
  t.true(queries.length > 40);
  for (const query of queries) {
    const used = metricsOf(query);
    t.true(used.length > 0, query);
    for (const name of used) t.true(names.has(name) || ofPrometheus.has(name), `${name} in ${query}`);
  }
});

test('The guide lists every metric of the service, and no other', async (t) => {
  const { own } = await servedSeries(t);
  const guide = `${await readFile('docs/monitoring.md', 'utf8')}${await readFile('docs/audit.md', 'utf8')}`;
  const listed = new Set([...guide.matchAll(/^\| `(stowage_\w+)`/gm)].map(([, name = '']) => name));
  t.deepEqual([...listed].sort(), [...new Set(own)].sort());
});

test('The dashboard has the form of its JSON schema, which refuses another one', async (t) => {
  const schema = z.fromJSONSchema((await readJson(schemaFile)) as Parameters<typeof z.fromJSONSchema>[0]);
  const model = await readJson(dashboardFile);
  t.deepEqual(schema.safeParse(model).error?.issues ?? [], []);
  t.false(schema.safeParse({ ...(model as object), panels: [{ id: 1, type: 'graph', title: 'x' }] }).success);
  const { panels } = dashboard.parse(model);
  t.is(new Set(panels.map(({ id }) => id)).size, panels.length, 'no two panels have one id');
});
