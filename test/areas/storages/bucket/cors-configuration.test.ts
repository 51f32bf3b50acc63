import test from 'ava';
import { corsRuleFields, corsRuleXml } from '../../../../src/areas/storages/domain/delivery/cors-rule.js';
import { withCorsRule } from '../../../../src/areas/storages/bucket/probing/bucket-cors.js';

const app = 'https://app.example.com';
const api = 'https://api.example.com';
const head = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** A rule of someone else, as Amazon's API reference shows it ("GetBucketCors", sample response). */
const foreign =
  '<CORSRule>\n  <AllowedOrigin>http://www.example.com</AllowedOrigin>\n  <AllowedMethod>GET</AllowedMethod>\n' +
  '  <MaxAgeSeconds>3000</MaxAgeSeconds>\n  <ExposeHeader>x-amz-server-side-encryption</ExposeHeader>\n</CORSRule>';

/** The rule without the white space between its elements. */
const plain = (rule: string) => rule.replaceAll(/>\s+</g, '><');

const add = (present: string | null, ...origins: string[]) =>
  withCorsRule(present === null ? null : Buffer.from(present), origins, corsRuleFields);

test('A bucket without rules gets the rule', async (t) => {
  const xml = `${head}<CORSConfiguration>${corsRuleXml([app])}</CORSConfiguration>`;
  t.deepEqual(await add(null, app), { is: 'changed', xml });
  t.deepEqual(await add('<CORSConfiguration/>', app), { is: 'changed', xml });
});

test('Rules of others keep their elements and their order, with name space and other elements', async (t) => {
  const other = foreign.replace('www', 'old');
  const present = `${head}<CORSConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${foreign}\n${other}<ResponseVary>true</ResponseVary></CORSConfiguration>\n`;
  const result = await add(present, app);
  t.is(
    result.is === 'changed' ? result.xml : result.is,
    `${head}<CORSConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${plain(foreign)}${plain(other)}${corsRuleXml([app])}<ResponseVary>true</ResponseVary></CORSConfiguration>`,
  );
});

test('A bucket that has the rule is not written', async (t) => {
  const first = await add(null, app, api);
  if (first.is !== 'changed') throw new Error('the first rule was not written');
  t.is((await add(first.xml, api)).is, 'unchanged');
  // Providers add an id and white space, and change the order and the case of header names.
  const returned =
    '<CORSConfiguration><CORSRule>\n<ID>1</ID>\n<MaxAgeSeconds>3600</MaxAgeSeconds><ExposeHeader>content-range</ExposeHeader>' +
    '<ExposeHeader>etag</ExposeHeader><AllowedHeader>*</AllowedHeader><AllowedMethod>PUT</AllowedMethod>' +
    `<AllowedMethod>GET</AllowedMethod><AllowedMethod>HEAD</AllowedMethod><AllowedOrigin>${app}</AllowedOrigin>` +
    '</CORSRule></CORSConfiguration>';
  t.is((await add(returned, app)).is, 'unchanged');
});

test('Another origin joins the rule of the service, which stays one rule', async (t) => {
  const present = `<CORSConfiguration>${foreign}${corsRuleXml([app])}</CORSConfiguration>`;
  const result = await add(present, api);
  t.is(
    result.is === 'changed' ? result.xml : result.is,
    `${head}<CORSConfiguration>${plain(foreign)}${corsRuleXml([app, api])}</CORSConfiguration>`,
  );
});

const unreadable: readonly [string, string][] = [
  ['a configuration that is cut off', `<CORSConfiguration>${foreign}`],
  ['another document', '<html><body>welcome</body></html>'],
  ['nothing', ''],
  ['an attribute', '<CORSConfiguration><CORSRule a="b"></CORSRule></CORSConfiguration>'],
  ['a second name space', '<CORSConfiguration><CORSRule xmlns="b"></CORSRule></CORSConfiguration>'],
  ['a prefix without its name space', '<CORSConfiguration><a:CORSRule></a:CORSRule></CORSConfiguration>'],
  ['text in place of rules', '<CORSConfiguration>canary</CORSConfiguration>'],
];

for (const [what, present] of unreadable) {
  test(`The service writes no rules over ${what}`, async (t) => {
    t.deepEqual(await add(present, app), { is: 'unreadable' });
  });
}
