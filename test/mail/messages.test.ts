import test from 'ava';
import { memberNoticeKind, securityNoticeKind } from '../../src/validation/fields.js';
import {
  addressChangeMessage,
  loginCodeMessage,
  securityNoticeMessage,
} from '../../src/areas/accounts/mail/messages.js';
import { invitationMessage, memberNoticeMessage } from '../../src/areas/projects/commands/member-messages.js';

const publicUrl = 'https://stowage.example';
const expires_at = '2026-01-02T03:14:05.000Z';

for (const [name, message] of [
  ['sign-in', loginCodeMessage],
  ['address change', addressChangeMessage],
] as const) {
  test(`The mail of a ${name} code has the code as its only run of six digits, and not in the subject`, (t) => {
    for (const url of [publicUrl, 'http://127.0.0.1:8080', 'https://n123456.example']) {
      const { subject, text, html } = message({ code: '012345', expires_at, publicUrl: url });
      t.deepEqual(text.match(/[0-9]{6,}/g), ['012345']);
      t.deepEqual(html.match(/[0-9]{6,}/g), ['012345']);
      t.notRegex(subject, /[0-9]/);
      t.regex(text, /valid until 2026-01-02 03:14 UTC/);
      t.regex(html, /valid until 2026-01-02 03:14 UTC/);
    }
  });
}

test('An invitation names project, role, inviter and URL', (t) => {
  const { subject, text, html } = invitationMessage({
    projectName: 'Summer film',
    inviter: 'Ada',
    role: 'editor',
    publicUrl,
  });
  t.is(subject, 'Invitation to a project');
  t.true(text.includes('Ada invites you to the project "Summer film" on Stowage, as editor.'));
  t.true(text.includes(publicUrl));
  t.true(html.includes('Ada invites you to the project &quot;Summer film&quot; on Stowage, as editor.'));
  t.true(html.includes(`<a href="${publicUrl}">${publicUrl}</a>`));
});

const hostileNames = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '&lt;b&gt;',
  'Win at https://evil.example/path',
  'www.evil.example',
  'eve@evil.example',
  'evil.example/login',
  'a\r\nBcc: eve@evil.example\r\n\r\nbody',
  'a\u0000b\u2028c',
  '\u202Egnp.exe',
  '$& $1 $`',
];

test('Names that users give stay text without markup, link, second line or other direction', (t) => {
  const harmless = invitationMessage({ projectName: 'a', inviter: 'b', role: 'viewer', publicUrl });
  const tags = harmless.html.match(/<[^>]*>/g);
  for (const name of hostileNames) {
    const { subject, text, html } = invitationMessage({
      projectName: name,
      inviter: name,
      role: 'viewer',
      publicUrl,
    });
    const everything = `${subject}\n${text}\n${html}`;
    t.notRegex(everything, /evil\.example|@evil|:\/\/evil|www\.evil/, name);
    t.deepEqual(html.match(/<[^>]*>/g), tags, name);
    t.notRegex(subject, /[\p{Cc}\u2028\u202E]/u, name);
    t.is(text.split('\n').length, 7, name);
    t.notRegex(everything, /[\u2028\u202E]/u, name);
    t.is(everything.match(/https:\/\//g)?.length, 3, name);
  }
});

test('A harmless name looks unchanged', (t) => {
  for (const name of ['Film 2: the return', 'v1.2', 'ईव 🦊', "O'Hara & Söhne", '$& $1']) {
    const { text } = invitationMessage({ projectName: name, inviter: '', role: 'owner', publicUrl });
    t.true(text.replaceAll('\u2060', '').includes(`A member invites you to the project "${name}"`), name);
  }
});

const swindle = 'URGENT: your mailbox is full, call +1 800 555 0199 or type 123456';
const ids = {
  projectId: '019b7d00-0000-7000-8000-000000000001',
  userId: '019b7d00-0000-7000-8000-000000000002',
};

for (const kind of memberNoticeKind.options) {
  test(`The notice ${kind} says who did it and how to answer, and leaves no room for a message of that user`, (t) => {
    const about = { projectName: swindle, inviter: swindle, role: 'admin', publicUrl } as const;
    const offer = kind === 'role_given' ? null : new Date('2026-02-01T03:04:05.678Z');
    const notice = memberNoticeMessage({ kind, ...about, ...ids, expiresAt: offer });
    for (const { subject, text, html } of [notice, invitationMessage({ ...about, role: 'owner' })]) {
      // No text of a user is in the subject, and none is a telephone number, a code or longer than 40 characters
      t.notRegex(subject, /URGENT|mailbox/);
      for (const body of [text, html]) {
        t.notRegex(body, /800 555|0199|123456/);
        t.true(body.replaceAll('\u2060', '').includes('URGENT: your mailbox is full, call +1 8…'));
        t.true(body.includes(publicUrl));
      }
    }
    t.is(
      notice.text.includes(`DELETE /api/v1/projects/${ids.projectId}/members/${ids.userId}`),
      offer === null,
    );
    t.is(notice.text.includes('GET /api/v1/auth/invitations'), offer !== null);
    t.is(notice.text.includes('2026-02-01'), offer !== null);
  });
}

for (const kind of securityNoticeKind.options) {
  test(`The notice ${kind} says what happened, when and what to do, and contains nothing like a code`, (t) => {
    const at = new Date('2026-01-02T03:04:05.678Z');
    for (const url of [publicUrl, 'http://127.0.0.1:8080', 'https://n123456.example']) {
      const { subject, text, html } = securityNoticeMessage({ kind, at, publicUrl: url });
      for (const body of [text, html]) {
        t.regex(body, /On 2026-01-02 at 03:04 UTC, /);
        t.regex(body, /If it was not you, /);
        t.notRegex(body, /[0-9]{6}/);
        t.is(body.includes(url), !url.includes('123456'));
      }
      t.notRegex(subject, /[0-9]/);
      t.is(text.match(/https?:/g)?.length ?? 0, url.includes('123456') ? 0 : 1);
    }
  });
}
