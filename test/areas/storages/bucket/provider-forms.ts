/*
 * The replies of providers and servers, in the forms that their sources and documents show. All lists have the objects
 * `a b+c&é.jpg` (5 bytes) and `z.jpg` (7 bytes), and all part lists the parts 1 (9 bytes) and 2 (3 bytes).
 */

export interface ProviderForms {
  readonly server: string;
  readonly source: string;
  readonly provider: 's3' | 'oss' | 'cos';
  readonly list: string;
  readonly parts: string;
  readonly started: string;
  readonly joined: string;
  /** An error document with the code NoSuchKey. */
  readonly error: string;
  /** The CORS rules of a bucket with one rule, for `https://shop.example`. */
  readonly cors: string;
}

const declared = '<?xml version="1.0" encoding="UTF-8"?>';
const amazon = 'http://s3.amazonaws.com/doc/2006-03-01/';

interface Written {
  /** The declaration, as the server writes it. */
  readonly head?: string;
  /** The name space with its attribute; `''` where the server writes none. */
  readonly ns?: string;
  /** The quotation mark around entity tags. */
  readonly quote?: string;
  /** The first key. */
  readonly key?: string;
  /** Elements of each listed object. */
  readonly ofObject?: string;
  /** Elements of the list before its objects, and after them. */
  readonly before?: string;
  readonly after?: string;
  /** Elements of each part. */
  readonly ofPart?: string;
  readonly space?: string;
  readonly partsRoot?: string;
}

/** Writes all replies of a server in its way. */
function written({
  head = declared,
  ns = ` xmlns="${amazon}"`,
  quote = '&quot;',
  key = 'a+b%2Bc%26%C3%A9.jpg',
  ofObject = '<StorageClass>STANDARD</StorageClass>',
  before = '<Name>media</Name><Prefix></Prefix><KeyCount>2</KeyCount><MaxKeys>2</MaxKeys><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>',
  after = '',
  ofPart = '',
  space = '',
  partsRoot = 'ListPartsResult',
}: Written): Omit<ProviderForms, 'server' | 'source' | 'provider'> {
  const document = (root: string, ...content: readonly string[]) =>
    `${head}${space}<${root}${ns}>${space}${content.join(space)}${space}</${root}>`;
  const tag = (value: string) => `<ETag>${quote}${value}${quote}</ETag>`;
  const object = (name: string, size: number) =>
    `<Contents>${space}<Key>${name}</Key><LastModified>2026-11-23T03:00:00.000Z</LastModified>${tag('a-tag')}${space}<Size>${size}</Size>${ofObject}</Contents>`;
  const part = (number: number, size: number) =>
    `<Part>${space}<PartNumber>${number}</PartNumber><LastModified>2026-11-23T03:00:00.000Z</LastModified>${tag(`t${number}`)}<Size>${size}</Size>${ofPart}</Part>`;
  const names = '<Bucket>media</Bucket><Key>a.jpg</Key>';
  const rule =
    '<AllowedOrigin>https://shop.example</AllowedOrigin><AllowedMethod>GET</AllowedMethod><AllowedHeader>*</AllowedHeader>';
  return {
    list: document('ListBucketResult', before, object(key, 5), object('z.jpg', 7), after),
    parts: document(
      partsRoot,
      `${names}<UploadId>u-1</UploadId><PartNumberMarker>0</PartNumberMarker><NextPartNumberMarker>2</NextPartNumberMarker>`,
      '<MaxParts>1000</MaxParts><IsTruncated>false</IsTruncated>',
      part(1, 9),
      part(2, 3),
    ),
    started: document('InitiateMultipartUploadResult', `${names}<UploadId>u-1</UploadId>`),
    joined: document('CompleteMultipartUploadResult', `<Location>http://a</Location>${names}${tag('t-2')}`),
    error: `${head}${space}<Error>${space}<Code>NoSuchKey</Code><Message>canary</Message><RequestId>r</RequestId></Error>`,
    cors: document('CORSConfiguration', `<CORSRule>${space}${rule}</CORSRule>`),
  };
}

const owner = '<Owner><ID>75aa57f09aa0</ID><DisplayName>media</DisplayName></Owner>';
const plainBefore =
  '<Name>media</Name><Prefix/><Marker/><MaxKeys>2</MaxKeys><IsTruncated>false</IsTruncated>';

export const providerForms: readonly ProviderForms[] = [
  {
    ...{ server: 'Amazon S3', provider: 's3' },
    source: 'docs.aws.amazon.com/AmazonS3/latest/API: ListObjectsV2, ListParts, CompleteMultipartUpload',
    ...written({
      head: `${declared}\n`,
      ofObject: `<ChecksumAlgorithm>CRC64NVME</ChecksumAlgorithm><ChecksumType>FULL_OBJECT</ChecksumType><StorageClass>STANDARD</StorageClass>${owner}`,
      ofPart: '<ChecksumCRC64NVME>AAAAAAAAAAA=</ChecksumCRC64NVME>',
    }),
    // It keeps the connection with blanks while it joins.
    joined: `${declared}\n   \n \n<CompleteMultipartUploadResult xmlns="${amazon}"><ETag>"t-2"</ETag></CompleteMultipartUploadResult>`,
  },
  {
    ...{ server: 'MinIO', provider: 's3', source: 'minio/minio cmd/api-response.go (Go encoding/xml)' },
    ...written({
      head: `${declared}\n`,
      quote: '&#34;',
      ofObject: `${owner}<StorageClass>STANDARD</StorageClass>`,
    }),
  },
  {
    // Its lists contain the keys without encoding.
    ...{ server: 'SeaweedFS', provider: 's3', source: 'seaweedfs weed/s3api/s3api_object_handlers_list.go' },
    ...written({
      head: `${declared}\n`,
      quote: '&#34;',
      key: 'a b+c&amp;é.jpg',
      before: plainBefore,
      ofObject: `${owner}<StorageClass>STANDARD</StorageClass>`,
    }),
  },
  {
    ...{ server: 'Ceph', provider: 's3', source: 'ceph/ceph src/rgw/rgw_rest_s3.cc' },
    ...written({
      key: 'a%20b%2Bc%26%C3%A9.jpg',
      ofObject: `<StorageClass>STANDARD</StorageClass>${owner}<Type>Normal</Type>`,
    }),
    error: `${declared}<Error><Code>NoSuchKey</Code><Message></Message><BucketName>media</BucketName><RequestId>tx0</RequestId><HostId>a</HostId></Error>`,
  },
  {
    ...{ server: 'OpenStack Swift', provider: 's3', source: 'openstack/swift swift/common/middleware/s3api' },
    ...written({
      head: "<?xml version='1.0' encoding='UTF-8'?>\n",
      quote: '"',
      key: 'a%20b%2Bc%26%C3%A9.jpg',
      ofObject: `${owner}<StorageClass>STANDARD</StorageClass>`,
    }),
  },
  {
    // It answers a list of the second version, and encodes only where it is asked to.
    ...{ server: 'versitygw', provider: 's3', source: 'versity/versitygw s3response/s3response.go' },
    ...written({ quote: '&#34;', key: 'a b&#43;c&amp;&#xE9;.jpg', before: plainBefore }),
  },
  {
    ...{ server: 'Garage', provider: 's3', source: 'deuxfleurs-org/garage src/api/s3/xml.rs' },
    ...written({ key: 'a%20b%2Bc%26%C3%A9.jpg' }),
  },
  {
    // Names and counts come after the objects.
    ...{ server: 'Cloudflare R2', provider: 's3', source: 'developers.cloudflare.com/r2/api/s3/api' },
    ...written({
      before: '<Name>media</Name>',
      after:
        '<IsTruncated>false</IsTruncated><MaxKeys>2</MaxKeys><KeyCount>2</KeyCount><EncodingType>url</EncodingType>',
    }),
  },
  {
    ...{ server: 'Backblaze B2', provider: 's3', source: 'backblaze.com/apidocs: S3-compatible API' },
    ...written({
      head: '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n',
      ofObject: `${owner}<StorageClass>STANDARD</StorageClass>`,
      space: '\n    ',
    }),
  },
  {
    ...{ server: 'Wasabi', provider: 's3', source: 'docs.wasabi.com: Wasabi API guide' },
    ...written({ head: `${declared}\n`, ofObject: `${owner}<StorageClass>STANDARD</StorageClass>` }),
  },
  {
    ...{ server: 'Google Cloud Storage', provider: 's3', source: 'cloud.google.com/storage/docs/xml-api' },
    ...written({
      head: "<?xml version='1.0' encoding='UTF-8'?>",
      ns: " xmlns='http://doc.s3.amazonaws.com/2006-03-01'",
      quote: '"',
      ofObject: '<Generation>1685472079879993</Generation><MetaGeneration>1</MetaGeneration>',
    }),
  },
  {
    ...{ server: 'Alibaba OSS', provider: 'oss', source: 'help.aliyun.com: ListObjectsV2 (OSS), ListParts' },
    ...written({
      ns: ' xmlns="http://doc.oss-cn-hangzhou.aliyuncs.com"',
      quote: '"',
      key: 'a%20b%2Bc%26%C3%A9.jpg',
      ofObject: '<Type>Normal</Type><StorageClass>Standard</StorageClass>',
      ofPart: '<HashCrc64ecma>1</HashCrc64ecma>',
      space: '\n  ',
    }),
    cors: `${declared}\n<CORSConfiguration><CORSRule><AllowedOrigin>https://shop.example</AllowedOrigin><AllowedMethod>GET</AllowedMethod><AllowedHeader>*</AllowedHeader></CORSRule><ResponseVary>false</ResponseVary></CORSConfiguration>`,
  },
  {
    ...{ server: 'Tencent COS', provider: 'cos', source: 'cloud.tencent.com/document/product/436/7734' },
    ...written({
      head: '<?xml version="1.0" encoding="utf-8" ?>\n',
      ns: '',
      quote: '&quot;',
      key: 'a%20b%2Bc%26%C3%A9.jpg',
      before:
        '<Name>media-1250000000</Name><EncodingType>url</EncodingType><Prefix/><Marker/><MaxKeys>2</MaxKeys><IsTruncated>false</IsTruncated>',
      ofObject: `${owner}<StorageClass>STANDARD</StorageClass>`,
      space: '\n\t',
    }),
  },
  {
    ...{ server: 'moto', provider: 's3', source: 'getmoto/moto moto/s3/responses.py, run as a server (5.1)' },
    ...written({
      head: '<?xml version="1.0" encoding="utf-8"?>\n',
      quote: '"',
      key: 'a%20b%2Bc%26%C3%A9.jpg',
      partsRoot: 'ListPartsResponse',
    }),
  },
  {
    ...{
      server: 'a proxy that writes the XML again',
      provider: 's3',
      source: 'XML 1.0 and Namespaces in XML 1.0 (W3C)',
    },
    list: `\ufeff${declared}<!-- rewritten --><s:ListBucketResult xmlns:s="${amazon}"><s:IsTruncated>false</s:IsTruncated><s:Contents><s:Key><![CDATA[a b+c&é]]>.jpg</s:Key><s:Size>5</s:Size><s:ETag>&#x22;a-tag&#34;</s:ETag></s:Contents><s:Contents><s:Key>z<!-- -->.jpg</s:Key><s:Size> 7 </s:Size><s:ETag>"a-tag"</s:ETag></s:Contents></s:ListBucketResult>`,
    parts: `<a:ListPartsResult xmlns:a="${amazon}"><a:Part><a:PartNumber>1</a:PartNumber><a:Size>9</a:Size><a:ETag><![CDATA["t1"]]></a:ETag></a:Part><Part xmlns="${amazon}"><PartNumber>2</PartNumber><Size>3</Size><ETag>&quot;t2&quot;</ETag></Part></a:ListPartsResult>`,
    started:
      '<a:InitiateMultipartUploadResult xmlns:a="b"><a:UploadId>u&#45;1</a:UploadId></a:InitiateMultipartUploadResult>',
    joined: '\n  <?xml version="1.0"?><!-- joined --><CompleteMultipartUploadResult/>',
    error: '<e:Error xmlns:e="e"><e:Code><![CDATA[NoSuchKey]]></e:Code></e:Error>',
    cors: `<c:CORSConfiguration xmlns:c="${amazon}"><!-- ours --><c:CORSRule><c:AllowedOrigin>https://shop.example</c:AllowedOrigin><c:AllowedMethod><![CDATA[GET]]></c:AllowedMethod><c:AllowedHeader>&#42;</c:AllowedHeader></c:CORSRule></c:CORSConfiguration>`,
  },
];
