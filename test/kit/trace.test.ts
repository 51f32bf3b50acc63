import test from 'ava';
import { inTraceOf, traceField, traceHeader, traceRequest } from '../../src/kit/trace.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';
const given = (header: string | string[] | undefined) => traceRequest('GET', header);

test('A valid traceparent gives the trace and its flag, and each outgoing request has another span', (t) => {
  for (const [header, flag] of [
    [`00-${traceId}-${spanId}-01`, '01'],
    [`00-${traceId}-${spanId}-00`, '00'],
    // Unknown flags are not passed on. A later version may have more fields.
    [`00-${traceId}-${spanId}-ff`, '01'],
    [`cc-${traceId}-${spanId}-01-what-follows`, '01'],
    [`cc-${traceId}-${spanId}-01`, '01'],
  ] as const) {
    const traced = given(header);
    t.is(traced.id, traceId, header);
    const { traceparent = '' } = traced.run(traceHeader);
    t.regex(traceparent, new RegExp(`^00-${traceId}-[0-9a-f]{16}-${flag}$`), header);
    t.false(traceparent.includes(spanId));
    t.deepEqual(traced.run(traceField), { trace_id: traceId });
  }
  t.deepEqual([traceHeader(), traceField()], [{}, {}]);
});

test('A traceparent that is malformed is ignored, and the trace is a new one', (t) => {
  for (const header of [
    undefined,
    '',
    [`00-${traceId}-${spanId}-01`],
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId}-${spanId}-01-`,
    `cc-${traceId}-${spanId}-01.more`,
    `ff-${traceId}-${spanId}-01`,
    `0-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-1`,
    ` 00-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01${'-'.repeat(16_000)}`,
  ]) {
    const [one, other] = [given(header), given(header)];
    t.regex(one.id, /^[0-9a-f]{32}$/, String(header));
    t.not(one.id, traceId);
    t.not(one.id, other.id);
  }
});

test('An event continues the trace of its correlation id', (t) => {
  t.deepEqual(inTraceOf(traceId, traceField), { trace_id: traceId });
  t.deepEqual(inTraceOf('4bf92f35-77b3-4da6-a3ce-929d0e0e4736', traceField), { trace_id: traceId });
  for (const other of ['', 'c', '0'.repeat(32)]) t.deepEqual(inTraceOf(other, traceField), {}, other);
});
