import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { ExecutionContext } from 'ava';
import type { Lookup } from '../../../src/outgoing/shared-lookup.js';
import { listen } from '../servers/loopback.js';

/*
 * The certificate of the fake payment platforms, valid until 2125, and its key. They protect nothing: only the tests trust
 * their authority, whose own key was deleted.
 */

/** The authority that the tests trust. */
const platformAuthority = `
-----BEGIN CERTIFICATE-----
MIIBcTCCARagAwIBAgIBATAKBggqhkjOPQQDAjA2MTQwMgYDVQQDDCtzdG93YWdl
IHRlc3QgYXV0aG9yaXR5IG9mIHBheW1lbnQgcGxhdGZvcm1zMCAXDTE4MDEwMTAw
MDAwMFoYDzIxMjUxMjMxMDAwMDAwWjA2MTQwMgYDVQQDDCtzdG93YWdlIHRlc3Qg
YXV0aG9yaXR5IG9mIHBheW1lbnQgcGxhdGZvcm1zMFkwEwYHKoZIzj0CAQYIKoZI
zj0DAQcDQgAEOhnTOQ6JNr/yKgZBjKw7NkjtCfnnZGHANsWxRElkopqhsrA57bkF
avQV7K0o2jvOA7JSTxOJ2ajWLwURmSykbaMTMBEwDwYDVR0TAQH/BAUwAwEB/zAK
BggqhkjOPQQDAgNJADBGAiEAqDoC7qjjOvbjeCRuH+CxD6RDCBN0AAsvjuvsI6Hf
SpMCIQCuwbd2zMAw9t3nmQGFrc41zksUvVcq94/rqueGW1h8aw==
-----END CERTIFICATE-----
`;

/** For the hosts of the platforms' interfaces. */
const platformCertificate = `
-----BEGIN CERTIFICATE-----
MIIBxzCCAW2gAwIBAgIBAjAKBggqhkjOPQQDAjA2MTQwMgYDVQQDDCtzdG93YWdl
IHRlc3QgYXV0aG9yaXR5IG9mIHBheW1lbnQgcGxhdGZvcm1zMCAXDTE4MDEwMTAw
MDAwMFoYDzIxMjUxMjMxMDAwMDAwWjAcMRowGAYDVQQDDBFwYXltZW50IHBsYXRm
b3JtczBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDuy550T1Jtd1xHxeyxwo863
6Z4jAgXJfFrjKV+ghqXvjHi5f+kShe9U2ys2p2CrA7pIgqwxHg2kkOj+n50fHOCj
gYMwgYAwcAYDVR0RBGkwZ4IVYXBpLm1jaC53ZWl4aW4ucXEuY29tghJvcGVuYXBp
LmFsaXBheS5jb22CDmFwaS5zdHJpcGUuY29tghBhcGktbS5wYXlwYWwuY29tghhh
cGktbS5zYW5kYm94LnBheXBhbC5jb20wDAYDVR0TAQH/BAIwADAKBggqhkjOPQQD
AgNIADBFAiEA3bZFavDEAjV4i5rQ2hJF/ZDodEFRPtnF2389ud724TgCIA5sMmnY
dbcFIOzlBGd6qlVu+zvVfQ6g2Lp266h0PlYr
-----END CERTIFICATE-----
`;

const platformKey = `
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgkCXiRZ6YOJUy3zQR
2Xd9To6wVZDwhjjdBqVRySgOfOihRANCAAQ7suedE9SbXdcR8XsscKPOt+meIwIF
yXxa4ylfoIal74x4uX/pEoXvVNsrNqdgqwO6SIKsMR4NpJDo/p+dHxzg
-----END PRIVATE KEY-----
`;

/** A request as the server received it. */
export interface ReceivedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface ServerReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * How the server answers a request. `serves`: at once. `fails`: 500, and nothing is done. `drops`: it does what it was
 * asked, and closes the connection. `is silent`: nothing is done, and no reply comes. `is slow`: it does what it was asked,
 * and its reply comes after the client's time limit.
 */
export type PlatformMood = 'serves' | 'fails' | 'drops' | 'is silent' | 'is slow';

/** A platform over TLS on loopback. */
export interface PlatformServer {
  readonly port: number;
  /** Every received request, the oldest first. */
  readonly requests: readonly ReceivedRequest[];
  /** Sets the moods of the next requests. After them, the server serves. */
  will(...moods: readonly PlatformMood[]): void;
}

/** The options by which the service's client finds the fake platforms. */
export const platformOptions = {
  ca: platformAuthority,
  lookup: ((_hostname, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }])) satisfies Lookup,
};

/** Starts a server with TLS. @param options.isPlain without TLS, for the SDKs */
export async function givenPlatformServer(
  t: ExecutionContext,
  serve: (request: ReceivedRequest) => ServerReply,
  { isPlain = false }: { readonly isPlain?: boolean } = {},
): Promise<PlatformServer> {
  const requests: ReceivedRequest[] = [];
  const moods: PlatformMood[] = [];
  const receive: RequestListener = (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url: path = '', headers } = incoming;
      const request = { method, path, headers, body: Buffer.concat(chunks).toString() };
      requests.push(request);
      answer(request, response);
    });
  };
  const tls = { cert: platformCertificate, key: platformKey };
  const server = isPlain ? createServer(receive) : createTlsServer(tls, receive);

  function answer(request: ReceivedRequest, response: ServerResponse): void {
    const mood = moods.shift() ?? 'serves';
    if (mood === 'is silent') return;
    if (mood === 'fails') {
      response.writeHead(500, { 'content-type': 'text/html' }).end('<h1>500</h1>');
      return;
    }
    const { status, headers, body } = serve(request);
    if (mood === 'serves') response.writeHead(status, headers).end(body);
    // Sent when the client has gone, as a slow platform does.
    if (mood === 'is slow') response.on('close', () => response.end(body));
    if (mood === 'drops') response.destroy();
  }

  return {
    port: await listen(t, server),
    requests,
    will: (...next) => moods.push(...next),
  };
}
