import { hash } from 'node:crypto';

interface Open {
  readonly path: string;
  readonly type: string;
  readonly parts: Map<number, Buffer>;
}

interface PartsReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface FakeParts {
  /** The numbers of the stored parts, by upload. */
  readonly open: ReadonlyMap<string, Open>;
  /** Answers a request about an upload in parts; null for any other request. @param url path and query */
  answer(method: string, url: string, type: string, body: Buffer): PartsReply | null;
  /** Forgets all uploads, as a rule of the bucket does. */
  forget(): void;
}

/** Uploads in parts as S3, OSS and COS have them, without signatures. @param store receives a joined object */
export function makeFakeParts(store: (path: string, body: Buffer, type: string) => void): FakeParts {
  const open = new Map<string, Open>();
  let opened = 0;
  const noUpload = { status: 404, body: '<Error><Code>NoSuchUpload</Code></Error>' };

  return {
    open,
    forget: () => open.clear(),
    answer: (method, url, type, body) => {
      const { pathname: path, searchParams: query } = new URL(url, 'http://storage');
      if (method === 'POST' && query.has('uploads')) {
        opened += 1;
        const id = `upload+${opened}/=`;
        open.set(id, { path, type, parts: new Map() });
        return {
          status: 200,
          body: `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
        };
      }
      const id = query.get('uploadId');
      if (id === null) return null;
      const upload = open.get(id);
      if (upload?.path !== path) return noUpload;
      if (method === 'PUT') {
        upload.parts.set(Number(query.get('partNumber')), body);
        return { status: 200, headers: { etag: tagOf(body) } };
      }
      if (method === 'GET') return listed(upload, query);
      open.delete(id);
      return method === 'DELETE' ? { status: 204 } : joined(upload, body.toString());
    },
  };

  function joined({ path, type, parts }: Open, xml: string): PartsReply {
    const named = [...xml.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>&quot;(\w+)&quot;<\/ETag>/g)];
    const bodies = named.map(([, number, tag]) => {
      const part = parts.get(Number(number));
      return part !== undefined && tagOf(part) === `"${tag ?? ''}"` ? part : null;
    });
    if (bodies.length === 0 || bodies.includes(null))
      return { status: 400, body: '<Error><Code>InvalidPart</Code></Error>' };
    store(path, Buffer.concat(bodies.filter((body) => body !== null)), type);
    return { status: 200, body: '<CompleteMultipartUploadResult></CompleteMultipartUploadResult>' };
  }
}

function listed({ parts }: Open, query: URLSearchParams): PartsReply {
  const after = Number(query.get('part-number-marker'));
  const rows = [...parts]
    .filter(([number]) => number > after)
    .sort(([one], [other]) => one - other)
    .slice(0, Number(query.get('max-parts')))
    .map(
      ([number, body]) =>
        `<Part><PartNumber>${number}</PartNumber><LastModified>2026-11-23T03:00:00.000Z</LastModified>` +
        `<ETag>${tagOf(body).replaceAll('"', '&quot;')}</ETag><Size>${body.length}</Size></Part>`,
    );
  return {
    status: 200,
    body: `<ListPartsResult><IsTruncated>false</IsTruncated>${rows.join('\n')}</ListPartsResult>`,
  };
}

function tagOf(body: Buffer): string {
  return `"${hash('md5', body)}"`;
}
