import { makeOutgoingHttp } from '../../../src/outgoing/outgoing-http.js';

/** The time limit of a request that must succeed on any machine. */
export const patientMs = 600_000;

/** Makes the guarded client, with time for a busy machine. */
export const makePatientHttp: typeof makeOutgoingHttp = (options) =>
  makeOutgoingHttp({ timeMs: patientMs, ...options });
