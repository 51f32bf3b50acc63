import { createRequire } from 'node:module';
import { z } from 'zod';
import { read } from './documents.js';

/* The package has no types. */
const { safeLoad } = createRequire(import.meta.url)('js-yaml') as {
  readonly safeLoad: (text: string) => unknown;
};

const service = z.object({
  image: z.string(),
  command: z.union([z.string(), z.array(z.string())]).optional(),
  entrypoint: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  env_file: z.unknown().optional(),
  profiles: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  healthcheck: z.object({ test: z.array(z.string()).optional() }).optional(),
});
const composed = z.object({
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.null()),
});

/** Reads a file for Compose. Compose reads YAML 1.2 and merges, which this parser also does. */
export function readCompose(file: string): unknown {
  return safeLoad(read(file));
}

/** Returns the services and volumes of a file for Compose. */
export function servicesOf(file: string): z.infer<typeof composed> {
  return composed.parse(readCompose(file));
}
