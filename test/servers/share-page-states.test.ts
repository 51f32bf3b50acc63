/* Judges every state of the page that opens shares by its screenshot, by axe, and by its size on small and large screens. */
import test, { type ExecutionContext } from 'ava';
import type { CreateShareInput } from '../../src/areas/shares/commands/sharing.js';
import {
  desktop,
  behaveAs,
  brokenRules,
  keepScreenshot,
  overflowingWidths,
  type Visitor,
  type Browser,
  givenBrowser,
  browserSuite,
} from '../support/clients/browser.js';
import { userId } from '../support/examples/ids.js';
import {
  blackLogo,
  landscape,
  makePdf,
  makePng,
  makeWav,
  recordWebm,
} from '../support/examples/media-files.js';
import { givenFakeStorage } from '../support/fakes/fake-storage.js';
import {
  addAsset,
  givenAsset,
  givenShare,
  nextContext,
  sharePassword,
} from '../support/given/given-share.js';
import { givenInProcess } from '../support/servers/service-in-process.js';

/** A file of an asset; without content its object does not exist. */
interface File {
  readonly key: string;
  readonly type: string;
  readonly content: Buffer | null;
}

interface SharedAssetOf extends File {
  readonly name: string;
  readonly size?: number;
  readonly renditions?: Readonly<Record<string, File>>;
}

interface PageState {
  readonly name: string;
  readonly visitor: Visitor;
  readonly assets: readonly SharedAssetOf[];
  readonly terms?: Partial<CreateShareInput>;
  /** The script that returns true when the page shows the state. */
  readonly shows: string;
  /** What the visitor does after the page asks for the password; by default types the right one. */
  readonly act?: (browser: Browser) => Promise<void>;
  /** Whether the state has no main action. */
  readonly isIdle?: true;
}

const phone: Visitor = { ...desktop, width: 390, height: 844 };
const german: Visitor = { ...desktop, languages: 'de-DE,de', timeZone: 'Europe/Berlin' };
const chinese: Visitor = { ...desktop, languages: 'zh-CN,zh', timeZone: 'Asia/Shanghai', isDark: true };

const openPassword = `return document.activeElement.id === 'password'`;
const isShown = (id: string): string => `return !document.getElementById('${id}').hidden`;
const imageLoaded = `return document.querySelector('#stage:not(.is-loading) > img')?.naturalWidth > 0`;
const stageEmpty = `return document.querySelector('#stage.empty') !== null`;
const playerLoaded = `return document.querySelector('#stage:not(.is-loading) :is(video, audio)')?.readyState >= 2`;
const says = (id: string, text: string): string =>
  `return document.getElementById('${id}').textContent.includes(${JSON.stringify(text)})`;

async function submit(browser: Browser, password = sharePassword): Promise<void> {
  await browser.type('#password', `${password}\uE007`);
}

interface Scene {
  readonly browser: Browser;
  readonly judge: (state: PageState) => Promise<void>;
}

async function given(t: ExecutionContext): Promise<Scene> {
  const storage = await givenFakeStorage(t);
  const endpoint = `http://127.0.0.1:${storage.port}`;
  const environment = { STORAGE_ALLOWED_CIDRS: '127.0.0.0/8' };
  const service = await givenInProcess(t, { environment });
  const { services, url } = service;
  const place = await givenAsset(services, { endpoint });
  const { projectId } = place;
  const project = {
    projectId,
    actorId: userId,
    changes: { name: 'Northlight Film', accent_color: '#e4572e', open_shares: true },
  };
  await services.commands.changeProject(project, nextContext(services), {});
  const browser = await givenBrowser(t);

  async function put({ key, content }: File): Promise<void> {
    if (content === null) return;
    const reply = await fetch(`${endpoint}/rushes/${key}`, { method: 'PUT', body: content });
    t.is(reply.status, 200);
  }

  async function add({ name, key, type, content, size, renditions = {} }: SharedAssetOf): Promise<string> {
    await Promise.all([put({ key, type, content }), ...Object.values(renditions).map(put)]);
    return addAsset(services, place, {
      ...{ name, object_key: key, media_type: type, size: size ?? content?.length ?? 1_000 },
      renditions: Object.entries(renditions).map(([kind, file]) => {
        return { kind, object_key: file.key, media_type: file.type, size: file.content?.length ?? 1_000 };
      }),
    });
  }

  return {
    browser,
    judge: async (state) => {
      await behaveAs(browser, state.visitor);
      const assetIds: string[] = [];
      for (const asset of state.assets) assetIds.push(await add(asset));
      const terms = { asset_ids: assetIds, ...state.terms };
      const { token } = await givenShare(services, { projectId, assetId: assetIds[0] ?? '' }, terms);
      await browser.open(`${url}/s/${token}`);
      if (terms.password !== null) {
        await browser.until(openPassword);
        await (state.act ?? submit)(browser);
      }
      await browser.until(state.shows);
      // The remark and the alarm follow after a moment, as screen readers need it; documents and players paint later
      const isSlow = (await browser.run(`return document.querySelector('iframe, video') !== null`)) === true;
      await new Promise((resolve) => setTimeout(resolve, isSlow ? 2_000 : 150));
      await keepScreenshot(browser, state.name);
      t.deepEqual(await brokenRules(browser), [], `${state.name}: axe`);
      t.is(
        await browser.run(bottomOfAction),
        state.isIdle === true ? null : true,
        `${state.name}: main action`,
      );
      t.deepEqual(await overflowingWidths(browser, state.visitor), [], `${state.name}: overflow`);
    },
  };
}

/** Whether the main action ends above the fold; null for none. */
const bottomOfAction = `
  const action = [...document.querySelectorAll('.main')].find((element) => element.checkVisibility());
  return action === undefined ? null : action.getBoundingClientRect().bottom <= innerHeight;`;

const photo = makePng(960, 600, landscape);
const portrait = makePng(600, 1_100, landscape);
const small = makePng(160, 120, landscape);
const png = (name: string, key: string, content: Buffer | null): SharedAssetOf => ({
  name,
  key,
  type: 'image/png',
  content,
});
const picture: SharedAssetOf = png('Rhine at dawn', 'rhine.png', photo);
const tomorrow = new Date(Date.now() + 86_400_000).toISOString();

const passwordStates: readonly PageState[] = [
  {
    name: '01-password',
    visitor: desktop,
    assets: [picture],
    act: () => Promise.resolve(),
    shows: openPassword,
  },
  {
    name: '02-password-german-phone',
    visitor: { ...german, width: 390, height: 844 },
    assets: [picture],
    act: () => Promise.resolve(),
    shows: openPassword,
  },
  {
    name: '03-password-chinese-dark',
    visitor: chinese,
    assets: [picture],
    act: () => Promise.resolve(),
    shows: openPassword,
  },
  {
    name: '04-password-wrong-and-shown',
    visitor: phone,
    assets: [picture],
    act: async (browser) => {
      await browser.click('#reveal');
      await submit(browser, 'open sesami');
    },
    shows: says('alarm', 'The password is wrong.'),
  },
  {
    name: '05-password-throttled',
    visitor: desktop,
    assets: [picture],
    act: async (browser) => {
      for (let wrong = 1; wrong <= 6; wrong += 1) {
        await browser.until(`return !document.getElementById('open').disabled`);
        await browser.run(`document.getElementById('alarm').textContent = ''`);
        await submit(browser, 'wrong');
        await browser.until(`return document.getElementById('alarm').textContent !== ''`);
      }
    },
    shows: `return !document.getElementById('wait').hidden && document.getElementById('open').disabled`,
  },
];

const fileStates: readonly PageState[] = [
  {
    name: '06-image',
    visitor: desktop,
    assets: [picture],
    terms: { expires_at: tomorrow, max_uses: 3 },
    shows: imageLoaded,
  },
  {
    name: '07-portrait-phone-german',
    visitor: { ...german, width: 390, height: 844 },
    assets: [
      png('Elbsandsteingebirge bei Sonnenuntergang, Aufnahme vom Basteifelsen', 'portrait.png', portrait),
    ],
    terms: { expires_at: tomorrow, max_uses: 2, note: 'Bitte bis Freitag freigeben. Danke!' },
    shows: imageLoaded,
  },
  {
    name: '08-transparent-logo',
    visitor: desktop,
    assets: [png('Logo, black', 'logo.png', makePng(400, 400, blackLogo))],
    shows: imageLoaded,
  },
  {
    name: '09-transparent-logo-dark',
    visitor: chinese,
    assets: [png('标志（黑色）', 'logo.png', makePng(400, 400, blackLogo))],
    shows: imageLoaded,
  },
  {
    name: '10-heic-with-preview',
    visitor: desktop,
    assets: [
      {
        ...{ name: 'IMG_2041', key: 'img.heic', type: 'image/heic', content: Buffer.from('not shown') },
        renditions: {
          thumbnail: { key: 'img-small.png', type: 'image/png', content: small },
          preview: { key: 'img-preview.png', type: 'image/png', content: photo },
        },
      },
    ],
    shows: `return document.querySelector('#stage img')?.src.includes('img-preview.png') && document.querySelector('#stage img').naturalWidth > 0`,
  },
  {
    name: '11-photoshop-without-preview-phone',
    visitor: phone,
    assets: [
      {
        name: 'Poster',
        key: 'poster.psd',
        type: 'image/vnd.adobe.photoshop',
        content: Buffer.from('8BPS'),
        size: 214_000_000,
      },
    ],
    shows: stageEmpty,
  },
  {
    name: '12-broken-image-falls-back',
    visitor: desktop,
    assets: [
      {
        ...png('Broken', 'broken.png', Buffer.from('no image')),
        renditions: { thumbnail: { key: 'small.png', type: 'image/png', content: small } },
      },
    ],
    shows: imageLoaded,
  },
  {
    name: '13-image-failed-phone',
    visitor: phone,
    assets: [png('Lost', 'lost.png', null)],
    shows: stageEmpty,
  },
  {
    name: '14-audio-with-cover',
    visitor: desktop,
    assets: [
      {
        ...{ name: 'Interview, take 3', key: 'take.wav', type: 'audio/wav', content: makeWav(95) },
        renditions: { poster: { key: 'cover.png', type: 'image/png', content: photo } },
      },
    ],
    terms: { allow_download: false },
    isIdle: true,
    shows: playerLoaded,
  },
  {
    name: '15-pdf',
    visitor: desktop,
    assets: [
      {
        name: 'Call sheet',
        key: 'sheet.pdf',
        type: 'application/pdf',
        content: makePdf('Call sheet, day 12'),
      },
    ],
    terms: { note: 'Please read page 1 before Monday.' },
    shows: `return document.querySelector('#stage.document:not(.is-loading) iframe') !== null`,
  },
  {
    name: '16-pdf-phone',
    visitor: phone,
    assets: [
      {
        name: 'Call sheet',
        key: 'sheet.pdf',
        type: 'application/pdf',
        content: makePdf('Call sheet, day 12'),
      },
    ],
    shows: stageEmpty,
  },
  {
    name: '37-text-phone',
    visitor: phone,
    assets: [{ name: 'Read me', key: 'read-me.txt', type: 'text/plain', content: Buffer.from('Day 12') }],
    terms: { allow_download: false },
    shows: says('actions', 'View'),
  },
  {
    name: '17-archive-hebrew-phone',
    visitor: phone,
    assets: [
      {
        name: 'raw-files.zip',
        key: 'raw.zip',
        type: 'application/zip',
        content: Buffer.from('PK'),
        size: 1_250_000_000,
      },
    ],
    terms: { title: 'חומרי גלם לסרט', note: 'הקבצים זמינים עד סוף החודש.' },
    shows: stageEmpty,
  },
  {
    name: '18-archive-that-must-not-be-saved',
    visitor: german,
    assets: [
      {
        name: 'Rohmaterial',
        key: 'raw.zip',
        type: 'application/zip',
        content: Buffer.from('PK'),
        size: 999_000,
      },
    ],
    terms: { allow_download: false },
    isIdle: true,
    shows: stageEmpty,
  },
];

const album: readonly SharedAssetOf[] = [
  png('Rhine at dawn', 'a.png', photo),
  png('Portrait of the gorge', 'b.png', portrait),
  png('Logo', 'c.png', makePng(400, 400, blackLogo)),
  { name: 'Interview, take 3', key: 'd.wav', type: 'audio/wav', content: makeWav(3) },
  { name: 'Call sheet', key: 'e.pdf', type: 'application/pdf', content: makePdf('Call sheet') },
  {
    name: 'All raw files of the second unit, sorted by day and camera',
    key: 'f.zip',
    type: 'application/zip',
    content: Buffer.from('PK'),
  },
];
const albumTerms = {
  title: 'Second unit, week 4',
  note: 'Selects are marked. Tell me which ones you want in full size.',
  password: null,
};

const inAlbum = { visitor: desktop, assets: album, terms: albumTerms, shows: imageLoaded };
const galleryStates: readonly PageState[] = [
  { ...inAlbum, name: '19-gallery' },
  { ...inAlbum, name: '20-gallery-phone', visitor: phone },
  {
    ...{ ...inAlbum, name: '21-gallery-chinese-dark', visitor: chinese },
    terms: { ...albumTerms, title: '第二摄制组，第 4 周' },
  },
  {
    ...{ ...inAlbum, name: '28-gallery-that-must-not-be-saved', isIdle: true },
    terms: { ...albumTerms, allow_download: false },
    shows: `return document.querySelector('#download-all[hidden]') !== null && document.querySelector('#gallery li') !== null`,
  },
  {
    ...{ ...inAlbum, name: '29-gallery-that-ends-tomorrow', visitor: phone },
    terms: { ...albumTerms, expires_at: tomorrow },
    shows: says('facts', 'Available until tomorrow, '),
  },
  {
    ...{ name: '30-gallery-that-is-saved', visitor: desktop, assets: album },
    act: async (browser) => {
      await submit(browser);
      await browser.until(imageLoaded);
      await browser.click('#download-all');
    },
    shows: says('download-state', 'Downloading file 2 of 6'),
  },
  {
    ...{ ...inAlbum, name: '36-open-share-with-limited-uses', visitor: phone },
    terms: { ...albumTerms, max_uses: 1 },
    shows: `return !document.getElementById('again').hidden`,
  },
];

browserSuite(test, 'The states of the page of shares', () => {
  test.serial(
    'The password form passes axe, fits every screen and shows its action at once in every state',
    async (t) => {
      const { judge } = await given(t);
      for (const state of passwordStates) await judge(state);
    },
  );

  test.serial('A file of any kind passes axe, fits every screen and shows its action at once', async (t) => {
    const { browser, judge } = await given(t);
    for (const state of fileStates) await judge(state);
    // The last one must not be saved, so no link leads to it
    t.is(await browser.run(`return document.querySelectorAll('#opened a[href]').length`), 0);
  });

  test.serial(
    'A share of several files opens without a password, passes axe and fits every screen',
    async (t) => {
      const { browser, judge } = await given(t);
      for (const state of galleryStates) await judge(state);
      // The last page has counted no use, so its button has the only one
      await browser.click('#again');
      await browser.until(imageLoaded);
      // The visitor goes on to the next file, and chooses the last one
      await browser.click('#next');
      await browser.until(says('place-name', 'Portrait of the gorge'));
      await browser.click('#gallery li:last-child button');
      await browser.until(stageEmpty);
      t.is(await browser.run(`return document.querySelectorAll('#gallery [aria-current=true]').length`), 1);
      t.regex(String(await browser.run(`return document.querySelector('#actions a').href`)), /\/f\.zip\?/);
    },
  );

  test.serial(
    'A video plays with its poster and its subtitles, and a broken one leaves a still image and a sentence',
    async (t) => {
      const { browser, judge } = await given(t);
      await browser.open('about:blank');
      const video = Buffer.from(String(await browser.run(recordWebm)), 'base64');
      const poster = { key: 'poster.png', type: 'image/png', content: photo };
      const subtitles = {
        key: 'en.srt',
        type: 'application/x-subrip',
        content: Buffer.from('1\n00:00:00,000 --> 00:00:01,000\nHello\n'),
      };
      const film = {
        name: 'Teaser',
        key: 'teaser.webm',
        type: 'video/webm',
        content: video,
        renditions: { poster, subtitles },
      };
      await judge({
        name: '22-video',
        visitor: desktop,
        assets: [film],
        terms: { allow_download: true },
        shows: playerLoaded,
      });
      await browser.until(`return document.querySelector('video').textTracks.length === 1`);
      await judge({
        name: '23-video-phone-dark',
        visitor: { ...phone, isDark: true },
        assets: [film],
        shows: playerLoaded,
      });
      const broken = { ...film, content: Buffer.from('no video'), renditions: { poster } };
      await judge({
        name: '24-video-failed',
        visitor: desktop,
        assets: [broken],
        shows: says('remark', 'You see a still image.'),
      });
      t.is(await browser.run(`return document.querySelectorAll('video, .spinner').length - 1`), 0);
    },
  );

  test.serial('A link that opens nothing, and a service that does not answer, say so', async (t) => {
    const { browser, judge } = await given(t);
    const act = async (): Promise<void> => {
      await browser.run(`location.pathname = '/s/' + 'x'.repeat(22)`);
    };
    const state = { assets: [picture], act, shows: isShown('notice') };
    await judge({ ...state, name: '25-gone', visitor: desktop, isIdle: true });
    const comeBack = async (): Promise<void> => {
      await browser.type('#password', `${sharePassword}\uE007`);
      await browser.until(imageLoaded);
      await browser.run(
        `sessionStorage.removeItem('share ' + location.pathname.split('/')[2]); location.reload();`,
      );
    };
    const usedUp = {
      ...state,
      name: '27-used-up',
      act: comeBack,
      terms: { max_uses: 1 },
      isIdle: true,
    } as const;
    await judge({ ...usedUp, visitor: desktop, shows: says('notice-text', 'as often as the sender') });
    await browser.devTools('Network.enable', {});
    const cut = async (): Promise<void> => {
      await browser.devTools('Network.setBlockedURLs', { urls: ['*/api/*'] });
      await browser.run(`location.reload()`);
    };
    await judge({ ...state, act: cut, name: '26-unreached-phone', visitor: phone });
    // The visitor tries again when the service answers
    await browser.devTools('Network.setBlockedURLs', { urls: [] });
    await browser.click('#again');
    await browser.until(openPassword);
    t.true(await browser.run(isShown('ask')));
  });
});
