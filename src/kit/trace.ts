import { randomUUID } from 'node:crypto';
import {
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { AsyncLocalStorage } from 'node:async_hooks';

/** What a piece of work carries to all calls that it makes. */
interface WorkContext {
  /** The span that the work belongs to. Its trace id is the correlation id of events. */
  readonly span?: { readonly traceId: string; readonly spanId: string; readonly traceFlags: number };
  /** How many documents and events stores have returned to the work. */
  readonly returned?: { count: number };
}

/** One storage for all: before Node 24 each costs every promise of the process 0.15 µs. */
const current = new AsyncLocalStorage<WorkContext>();

/** Runs work that carries this besides what the present work carries. */
export function carrying<Result>(more: WorkContext, work: () => Result): Result {
  return current.run({ ...current.getStore(), ...more }, work);
}

/** Returns what the present work carries. */
export function carried(): WorkContext {
  return current.getStore() ?? {};
}

/* Traces: src/http/README.md#traces. The API does nothing until an operator loads an SDK of OpenTelemetry beside the program. */

const tracer = trace.getTracer('stowage');

/** The trace of one request. */
export type RequestTrace = ReturnType<typeof traceRequest>;

/**
 * Begins the trace of a request, or goes on with that of its caller.
 * @param traceparent the header; a malformed one is ignored (W3C Trace Context, 3.2.2)
 */
export function traceRequest(method: string, traceparent: string | readonly string[] | undefined) {
  const active = context.active();
  // An instrumentation of the operator may have begun a span of the request.
  const parent = trace.getSpanContext(active) ?? readTraceparent(traceparent);
  const attributes = { 'http.request.method': method };
  const span = startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
  const isOfSdk = isOwn(span, parent);
  const own = isOfSdk ? span.spanContext() : childOf(parent);
  return {
    id: own.traceId,
    run: <Result>(work: () => Result): Result =>
      carrying({ span: own }, isOfSdk ? () => context.with(trace.setSpan(active, span), work) : work),
    end: ({ route, status }: { readonly route: string | null; readonly status: number }) => {
      if (!isOfSdk) return;
      if (route !== null) span.updateName(`${method} ${route}`).setAttribute('http.route', route);
      span.setAttribute('http.response.status_code', status);
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/** Runs the work that an event asks for in the trace of its request. Ids of other chains are UUIDs, and name a trace too. */
export function inTraceOf<Result>(correlationId: string, work: () => Result): Result {
  const traceId = correlationId.replaceAll('-', '');
  if (!/^(?!0{32})[0-9a-f]{32}$/.test(traceId)) return work();
  return carrying({ span: childOf({ traceId, traceFlags: TraceFlags.SAMPLED }) }, work);
}

/** Runs a command in a span that names it and its stream. */
export function traceCommand<Result>(
  name: string,
  stream: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const parent = carried().span ?? null;
  const attributes = { 'stowage.command': name, 'stowage.stream': stream };
  const span = startSpan(name, { attributes }, parent);
  if (!span.isRecording()) return work();
  return context.with(trace.setSpan(context.active(), span), async () => {
    try {
      return await work();
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown');
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Returns the field that each log line of traced work has. */
export function traceField(): { readonly trace_id?: string } {
  const traceId = carried().span?.traceId;
  return traceId === undefined ? {} : { trace_id: traceId };
}

/** Returns the header for an outgoing request of traced work. */
export function traceHeader(): { readonly traceparent?: string } {
  const own = carried().span;
  if (own === undefined) return {};
  return { traceparent: `00-${own.traceId}-${own.spanId}-0${own.traceFlags & TraceFlags.SAMPLED}` };
}

/** Version, trace id, parent id and flags. A later version may have more after them. */
const shape =
  /^(?!ff)(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<more>-.*)?$/;

function readTraceparent(header: string | readonly string[] | undefined): SpanContext | null {
  const found = typeof header === 'string' ? shape.exec(header)?.groups : undefined;
  if (found === undefined || (found['version'] === '00' && found['more'] !== undefined)) return null;
  const { traceId = '', spanId = '', flags = '' } = found;
  const read = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
  };
  return isSpanContextValid(read) ? read : null;
}

function startSpan(name: string, options: SpanOptions, parent: SpanContext | null): Span {
  const from = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
  return tracer.startSpan(name, options, from);
}

/** Tells whether an SDK has made the span. Without one the API returns that of the caller, or an invalid one. */
function isOwn(span: Span, parent: SpanContext | null): boolean {
  const made = span.spanContext();
  return isSpanContextValid(made) && made.spanId !== parent?.spanId;
}

/** A new span in the trace, or in a new one. Its flag lets the receiver of a call record, because a caller may have recorded. */
function childOf(parent: Pick<SpanContext, 'traceId' | 'traceFlags'> | null): SpanContext {
  const { traceId = newId(16), traceFlags = TraceFlags.SAMPLED } = parent ?? {};
  return { traceId, spanId: newId(8), traceFlags };
}

/** The last seven bytes, which samplers take as random (W3C Trace Context Level 2, section 3.2.2.4), are so in a UUID. */
function newId(bytes: number): string {
  return randomUUID()
    .replaceAll('-', '')
    .slice(-2 * bytes);
}
