import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { AuditLog } from '../signing/audit-log.js';
import { witnessProblem, type WitnessStatus } from '../signing/witnesses.js';
import {
  type Contradiction,
  originOf,
  servedNote,
  type SignedRecord,
  summaryOf,
} from '../signing/audit-records.js';
import type { LogResources } from '../history/log-resources.js';
import type { SweepProgress } from '../signing/sweep.js';
import { parseTilePath } from '../tree/tiles.js';
import type { TreeReader } from '../tree/tree-reader.js';
import { invalid } from '../../../validation/field-problems.js';
import { proofText } from './audit-query.js';
import { HttpError } from '../../../http/replies/error-codes.js';
import { type Route, json, ok, routesOf, typed } from '../../../http/route.js';

/** What the routes need of the audit log. */
export interface AuditSource {
  readonly log: Pick<AuditLog, 'status' | 'readSigned'>;
  readonly sweep: { readonly progress: () => SweepProgress };
  readonly tree: Pick<TreeReader, 'inclusion' | 'consistency'>;
  readonly resources: Pick<LogResources, 'read'>;
  readonly vkeys: (origin: string) => readonly string[];
}

const tag = 'Audit log';
const immutable = 'private, max-age=31536000, immutable';

const auditStatus = z
  .object({
    origin: z.string().nullable().describe('The first line of checkpoints and the name of the keys.'),
    size: z.int().describe('Events in the tree, up to 10 s old where another process sequences.'),
    signed_size: z.int().describe('Events under the last signed checkpoint.'),
    signed_at: z.iso.datetime().nullable(),
    root: z.string().nullable().describe('Its root, in base64.'),
    vkeys: z.array(z.string()).describe('For comparison only: get the keys by another way.'),
    witnesses: z.array(
      z.object({
        name: z.string(),
        size: z.int().describe('Events under its last cosignature; 0 before the first.'),
        problem: z.string().nullable(),
      }),
    ),
    contradiction: z
      .object({ found_at: z.iso.datetime(), source: z.string(), what: z.string(), size: z.int() })
      .meta({ id: 'AuditContradiction' })
      .nullable()
      .describe('Present while the log contradicts what was signed. The service then signs nothing.'),
    problem: z.string().nullable().describe('Why the log is not sequenced any further.'),
    sweep: z.object({
      running: z.object({ done: z.int(), of: z.int() }).meta({ id: 'AuditSweepProgress' }).nullable(),
      finished_at: z.iso.datetime().nullable(),
      size: z.int(),
    }),
  })
  .meta({ id: 'AuditStatus' });

const index = z
  .string()
  .regex(/^(0|[1-9]\d{0,14})$/, 'must be a whole number')
  .transform(Number);

const hashesText = z.string().meta({ examples: ['DFpT3iO1kQfVBj3uB5Z1gTXL7Jq0qRtCA5Ee5c3iXbY=\n'] });
const noteText = z.string().meta({
  examples: ['log.example.com\n8\nDFpT3iO1kQfVBj3uB5Z1gTXL7Jq0qRtCA5Ee5c3iXbY=\n\n— log.example.com …\n'],
});

/** Makes the routes of the signed log (src/areas/audit/README.md#serving-the-log). */
export function makeAuditLogRoutes({ log, sweep, tree, resources, vkeys }: AuditSource): readonly Route[] {
  const route = routesOf({ tag });
  return [
    route('getAuditStatus', 'GET /audit/status', {
      summary: 'Progress of the audit log: sequenced, signed, cosigned and compared',
      replies: { 200: json('The status.', auditStatus) },
      handler: async () => ok(await readStatus()),
    }),
    route('getAuditProof', 'GET /audit/proof', {
      summary: 'The proof that an event is under the signed checkpoint',
      description: 'C2SP tlog-proof, with the newest checkpoint and its cosignatures.',
      request: { query: z.object({ index }) },
      replies: { 200: typed('text/plain', 'The proof.', proofText) },
      errors: ['not_found', 'nothing_signed'],
      handler: async ({ query }) => text(await auditProof({ log, tree }, query.index)),
    }),
    route('getAuditConsistency', 'GET /audit/consistency', {
      summary: 'The proof that a larger log continues a smaller one',
      description:
        'RFC 9162, section 2.1.4: one hash a line, in base64; empty when `from` is 0 or equals `to`.',
      request: { query: z.object({ from: index, to: index }) },
      replies: { 200: typed('text/plain', 'The hashes.', hashesText) },
      errors: ['not_found', 'nothing_signed', 'invalid_request'],
      handler: async ({ query: { from, to } }) => {
        if (from > to) invalid('query.from', 'must not be greater than to', 'not_allowed');
        const signed = await readSignedLog(log);
        if (to > signed.size) throw beyond(signed);
        const hashes = await tree.consistency(from, to);
        return text(hashes.map((hash) => `${hash.toString('base64')}\n`).join(''));
      },
    }),
    route('getAuditCheckpoint', 'GET /audit/log/checkpoint', {
      summary: 'The newest signed checkpoint, with the cosignatures of witnesses',
      replies: { 200: typed('text/plain', 'A signed note.', noteText) },
      errors: ['nothing_signed'],
      handler: async () => text(servedNote(await readSignedLog(log)) ?? ''),
    }),
    ...resourceRoutes(),
  ];

  async function readStatus(): Promise<z.output<typeof auditStatus>> {
    const { log: sequenced, contradiction, problem, witnesses } = log.status();
    const signed = await log.readSigned();
    const origin = sequenced === null ? (signed?.origin ?? null) : originOf(sequenced);
    return {
      origin,
      size: sequenced?.size ?? 0,
      ...summaryOf(signed),
      vkeys: origin === null ? [] : [...vkeys(origin)],
      witnesses: witnesses.map((witness) => witnessOf(witness, signed)),
      contradiction: contradiction === null ? null : contradictionOf(contradiction),
      problem,
      sweep: sweepOf(sweep.progress()),
    };
  }

  /** A path of a tile has three to six segments: a router matches a fixed number of them. */
  function resourceRoutes(): readonly Route[] {
    const groups = ['n1', 'n2', 'n3', 'n4'] as const;
    return ([1, 2, 3, 4] as const).flatMap((count) => {
      const names = groups.slice(0, count);
      const rest = names.map((name) => `/:${name}`).join('');
      const shape = Object.fromEntries(names.map((name) => [name, z.string()]));
      const pathOf = (params: Readonly<Record<string, string>>): string =>
        names.map((name) => params[name] ?? '').join('/');
      return [
        route(`getAuditTile${count}`, `GET /audit/log/tile/:level${rest}`, {
          summary: 'A tile of hashes, or a bundle of entries',
          ...(count === 1 && {
            description:
              'C2SP tlog-tiles: `tile/<level>/<N>[.p/<width>]` and `tile/entries/<N>[.p/<width>]`; `<N>` has groups of three digits, all but the last with a prefix `x`.',
          }),
          request: { params: z.object({ level: z.string(), ...shape }) },
          replies: { 200: typed('application/octet-stream', 'Bytes.') },
          errors: ['not_found', 'nothing_signed', 'invalid_request'],
          cacheControl: immutable,
          handler: ({ params }) =>
            readResource(
              `tile/${(params as Readonly<Record<string, string>>)['level'] ?? ''}/${pathOf(params)}`,
            ),
        }),
        route(`getAuditEventLines${count}`, `GET /audit/log/events${rest}`, {
          summary: 'The events of a tile, as lines of JSON',
          ...(count === 1 && {
            description:
              '`events/<N>[.p/<width>]`, with the path of C2SP tlog-tiles. Sealed values stay sealed.',
          }),
          request: { params: z.object(shape) },
          replies: { 200: typed('application/jsonl', 'One event a line.') },
          errors: ['not_found', 'nothing_signed', 'invalid_request'],
          cacheControl: immutable,
          handler: ({ params }) => readResource(`events/${pathOf(params)}`),
        }),
      ];
    });
  }

  async function readResource(path: string) {
    const parsed = parseTilePath(path);
    if (parsed === null)
      throw new HttpError('invalid_request', 'the path is not of the form of C2SP tlog-tiles');
    const signed = await readSignedLog(log);
    const found = await resources.read(parsed, signed.size);
    if (found === null) throw beyond(signed);
    return bytes(found);
  }
}

/** Returns a tlog-proof of an event: C2SP tlog-proof. @throws HttpError 404 at or beyond the signed size, 503 */
export async function auditProof(
  { log, tree }: Pick<AuditSource, 'log' | 'tree'>,
  at: number,
): Promise<string> {
  const signed = await readSignedLog(log);
  if (at >= signed.size) throw beyond(signed);
  const hashes = await tree.inclusion(at, signed.size);
  const lines = hashes.map((hash) => `${hash.toString('base64')}\n`).join('');
  return `c2sp.org/tlog-proof@v1\nindex ${at}\n${lines}\n${servedNote(signed) ?? ''}`;
}

/** Reads the last signed checkpoint. @throws HttpError 503 while nothing is signed */
export async function readSignedLog(log: Pick<AuditLog, 'readSigned'>): Promise<SignedRecord> {
  const signed = await log.readSigned();
  if (signed === null || signed.note === '')
    throw new HttpError('nothing_signed', 'no checkpoint is signed yet; the first follows the first events');
  return signed;
}

function beyond({ size }: SignedRecord): HttpError {
  return new HttpError('not_found', `the signed log has ${size} events`);
}

function witnessOf(witness: WitnessStatus, signed: SignedRecord | null) {
  const { name, size } = witness;
  return { name, size: signed?.cosignatures[name]?.size ?? size, problem: witnessProblem(witness) };
}

/** The schema of the reply is closed. */
function contradictionOf({ found_at, source, what, size }: Contradiction) {
  return { found_at, source, what, size };
}

function sweepOf({ running, finishedAt, size }: SweepProgress) {
  return { running, finished_at: finishedAt?.toISOString() ?? null, size };
}

function text(body: string) {
  return bytes(Buffer.from(body));
}

function bytes(content: Buffer) {
  const digest = createHash('sha256').update(content).digest('base64url').slice(0, 27);
  return { status: 200 as const, prepared: { bytes: content, tag: `"${digest}"` } };
}
