import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** The CORS rules of a bucket, with the calls of S3 that read and write them. */
export interface FakeCors {
  /** The configuration as it was last written; null if there is none. */
  configuration: string | null;
  readonly answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

/** Says whether a request reads or writes the rules, or is the preflight of a page. */
export function isCorsRequest({ method, url = '' }: IncomingMessage): boolean {
  return method === 'OPTIONS' || /\?(?:.*&)?cors(?:=?$|[=&])/.test(url);
}

/** Makes the rules of a bucket. Without a rule, preflights get the reply of S3, OSS and COS. */
export function makeFakeCors(): FakeCors {
  const cors: FakeCors = {
    configuration: null,
    answer: async (request, response) => {
      if (request.method === 'OPTIONS') preflight(cors.configuration, request, response);
      else if (request.method === 'PUT') {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const body = Buffer.concat(chunks);
        if (request.headers['content-md5'] !== hash('md5', body, 'base64'))
          refuse(response, 400, 'InvalidDigest');
        else {
          cors.configuration = body.toString();
          response.end();
        }
      } else if (cors.configuration === null) refuse(response, 404, 'NoSuchCORSConfiguration');
      else response.end(cors.configuration);
    },
  };
  return cors;
}

/** Answers by the first rule that fits origin, method and headers (Amazon S3, "How does Amazon S3 evaluate the CORS"). */
function preflight(
  configuration: string | null,
  { headers }: IncomingMessage,
  response: ServerResponse,
): void {
  const origin = headers.origin ?? '';
  const method = headers['access-control-request-method'] ?? '';
  const asked = (headers['access-control-request-headers'] ?? '').split(',').map((name) => name.trim());
  const rules = [...(configuration ?? '').matchAll(/<CORSRule>[\s\S]*?<\/CORSRule>/g)].map(([rule]) => rule);
  const values = (rule: string, name: string): readonly string[] =>
    [...rule.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, value = '']) => value);
  const fits = (allowed: readonly string[], wanted: string): boolean =>
    allowed.includes('*') || allowed.some((one) => one.toLowerCase() === wanted.toLowerCase());
  const rule = rules.find(
    (one) =>
      fits(values(one, 'AllowedOrigin'), origin) &&
      values(one, 'AllowedMethod').includes(method) &&
      asked.every((name) => fits(values(one, 'AllowedHeader'), name)),
  );
  if (rule === undefined) {
    refuse(response, 403, 'AccessForbidden');
    return;
  }
  response.writeHead(200, {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': values(rule, 'AllowedMethod').join(', '),
    'access-control-allow-headers': asked.join(', '),
  });
  response.end();
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>canary</Message></Error>`);
}
