export {
  makeStowageClient,
  type StowageApi,
  type StowageClient,
  type StowageClientOptions,
} from './client.js';
export { must, StowageError } from './errors.js';
export { pages } from './pages.js';
export type { ProblemField } from './problem-fields.js';
export type { RetryOptions } from './retry.js';
export type { Tokens } from './session.js';
export { type UploadOptions, type UploadTarget, uploadFile } from './upload.js';
export type { components, operations, paths } from './document.js';
