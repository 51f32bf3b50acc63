import test from 'ava';
import { corsRuleXml } from '../../../../src/areas/storages/domain/delivery/cors-rule.js';
import { withCorsRule } from '../../../../src/areas/storages/bucket/testing/cors-configuration.js';

const app = 'https://app.example.com';
const api = 'https://api.example.com';
const head = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** A rule of someone else, as Amazon's API reference shows it ("GetBucketCors", sample response). */
const foreign =
  '<CORSRule>\n  <AllowedOrigin>http://www.example.com</AllowedOrigin>\n  <AllowedMethod>GET</AllowedMethod>\n' +
  '  <MaxAgeSeconds>3000</MaxAgeSeconds>\n  <ExposeHeader>x-amz-server-side-encryption</ExposeHeader>\n</CORSRule>';

const add = (present: string | null, ...origins: string[]) => withCorsRule(present, origins, corsRuleXml);

test('A bucket without rules gets the rule', (t) => {
  const xml = `${head}<CORSConfiguration>${corsRuleXml([app])}</CORSConfiguration>`;
  t.deepEqual(add(null, app), { is: 'changed', xml });
  t.deepEqual(add('<CORSConfiguration/>', app), { is: 'changed', xml });
});

test('Rules of others stay as they are, in their order, with name space and other elements', (t) => {
  const other = foreign.replace('www', 'old');
  const present = `${head}<CORSConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${foreign}\n${other}<ResponseVary>true</ResponseVary></CORSConfiguration>\n`;
  const result = add(present, app);
  t.is(
    result.is === 'changed' ? result.xml : result.is,
    `${head}<CORSConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${foreign}${other}${corsRuleXml([app])}<ResponseVary>true</ResponseVary></CORSConfiguration>`,
  );
});

test('A bucket that has the rule is not written', (t) => {
  const first = add(null, app, api);
  if (first.is !== 'changed') throw new Error('the first rule was not written');
  t.is(add(first.xml, api).is, 'unchanged');
  // Providers add an id and white space, and change the order and the case of header names.
  const returned =
    '<CORSConfiguration><CORSRule>\n<ID>1</ID>\n<MaxAgeSeconds>3600</MaxAgeSeconds><ExposeHeader>content-range</ExposeHeader>' +
    '<ExposeHeader>etag</ExposeHeader><AllowedHeader>*</AllowedHeader><AllowedMethod>PUT</AllowedMethod>' +
    `<AllowedMethod>GET</AllowedMethod><AllowedMethod>HEAD</AllowedMethod><AllowedOrigin>${app}</AllowedOrigin>` +
    '</CORSRule></CORSConfiguration>';
  t.is(add(returned, app).is, 'unchanged');
});

test('Another origin joins the rule of the service, which stays one rule', (t) => {
  const present = `<CORSConfiguration>${foreign}${corsRuleXml([app])}</CORSConfiguration>`;
  const result = add(present, api);
  t.is(
    result.is === 'changed' ? result.xml : result.is,
    `${head}<CORSConfiguration>${foreign}${corsRuleXml([app, api])}</CORSConfiguration>`,
  );
});

const unreadable: readonly [string, string][] = [
  ['a configuration that is cut off', `<CORSConfiguration>${foreign}`],
  ['another document', '<html><body>welcome</body></html>'],
  ['nothing', ''],
  ['a comment', `<CORSConfiguration><!-- ${foreign} --></CORSConfiguration>`],
  ['names with a prefix', '<CORSConfiguration><a:CORSRule></a:CORSRule></CORSConfiguration>'],
];

for (const [what, present] of unreadable) {
  test(`The service writes no rules over ${what}`, (t) => {
    t.deepEqual(add(present, app), { is: 'unreadable' });
  });
}
