// The site of the guides, which `npm run docs:site` builds into dist/guides and the service serves at /guides.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { defineConfig } from 'vitepress';
import { onlySitePackages } from '../../scripts/site-packages.mjs';

const docs = join(import.meta.dirname, '..');
/** Pages for people who change the code; they stay in the clone. */
const notInSite = ['decisions/**', 'extending.md', 'style.md', 'node_modules/**'];

/** The pages of docs/payments by their headings, but those that are about no platform. */
function pagesOfPlatforms() {
  const others = ['README.md', 'first-order.md', 'resolving.md'];
  const pages = readdirSync(join(docs, 'payments')).filter((file) => !others.includes(file));
  return Object.fromEntries(
    pages.map((file) => {
      const [heading] = readFileSync(join(docs, 'payments', file), 'utf8').split('\n', 1);
      return [heading.slice(2), `/payments/${file.slice(0, -3)}`];
    }),
  );
}

const english = {
  Start: { Overview: '/', Example: '/example', 'First calls': '/first-calls' },
  Concepts: {
    Architecture: '/architecture',
    'Contract of the API': '/api',
    Glossary: '/glossary',
  },
  Guides: {
    Accounts: '/accounts',
    Projects: '/projects',
    Storages: '/storages',
    Assets: '/assets',
    Uploads: '/uploads',
    Shares: '/shares',
    Webhooks: '/webhooks',
    'Edge agents': '/agents',
    Payments: '/payments/',
    'First order': '/payments/first-order',
    ...pagesOfPlatforms(),
    'Resolve payments': '/payments/resolving',
    'Verify the audit log': '/audit',
    'History of the audit log': '/audit-history',
  },
  Operate: {
    Operate: '/operate',
    Monitoring: '/monitoring',
    Stores: '/stores',
    Backup: '/backup',
    Keys: '/keys',
    'Trouble-shooting': '/trouble-shooting',
    Measurements: '/benchmarks',
  },
  Reference: {
    Errors: '/errors-and-limits',
    Limits: '/limits',
    Settings: '/configuration',
    Commands: '/operate#commands',
    Events: '/events',
  },
  Compare: { 'Other products': '/compare' },
  Changelog: { Changelog: '/changelog' },
};
const chinese = {
  开始: { 概览: '/zh/', 示例: '/zh/example', 首次调用: '/zh/first-calls' },
  '更多（英文）': { 指南: '/accounts', 运维: '/operate', 参考: '/errors-and-limits', 更新日志: '/changelog' },
};

const sidebarOf = (sections) =>
  Object.entries(sections).map(([text, pages]) => ({
    text,
    items: Object.entries(pages).map(([title, link]) => ({ text: title, link })),
  }));
/** The bar of a small screen has room for four. */
const navOf = (sections, names = Object.keys(sections)) =>
  names.map((text) => ({ text, link: Object.values(sections[text])[0] }));

export default defineConfig({
  title: 'Stowage',
  description: 'The backend of products that sell and share media',
  base: '/guides/',
  rewrites: { 'payments/README.md': 'payments/index.md' },
  cleanUrls: true,
  // The policy of the pages refuses the style sheet that would stop transitions for a moment.
  appearance: { disableTransition: false },
  srcExclude: notInSite,
  // The order of pages in the index of the search follows from this, so two builds are equal.
  buildConcurrency: 1,
  vite: { plugins: [onlySitePackages()] },
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    config: dropLinksOutOfTheSite,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  locales: {
    root: { label: 'English', lang: 'en' },
    zh: {
      label: '简体中文',
      lang: 'zh-Hans',
      description: '销售和分享媒体的产品后端',
      themeConfig: {
        nav: navOf(chinese),
        sidebar: sidebarOf(chinese),
        outline: { level: [2, 3], label: '本页内容' },
        docFooter: { prev: '上一页', next: '下一页' },
        darkModeSwitchLabel: '外观',
        sidebarMenuLabel: '目录',
        returnToTopLabel: '回到顶部',
        langMenuLabel: '语言',
        skipToContentLabel: '跳到正文',
      },
    },
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        locales: { zh: { translations: { button: { buttonText: '搜索', buttonAriaLabel: '搜索' } } } },
      },
    },
    nav: navOf(english, ['Start', 'Guides', 'Operate', 'Reference']),
    sidebar: sidebarOf(english),
    outline: [2, 3],
  },
});

/** A link to a file of the clone that is no page of the site becomes text. */
function dropLinksOutOfTheSite(md) {
  md.core.ruler.push('links_of_site', ({ tokens, env }) => {
    for (const { children } of tokens) {
      if (children === null) continue;
      let isDropped = false;
      for (const token of children) {
        if (token.type === 'link_open') {
          isDropped = !isInSite(token.attrGet('href'), env.relativePath ?? '');
        }
        if (!isDropped || !token.type.startsWith('link_')) continue;
        if (token.type === 'link_close') isDropped = false;
        Object.assign(token, { type: 'text', tag: '', nesting: 0, content: '' });
      }
    }
  });
}

function isInSite(href, page) {
  if (/^([a-z]+:|#|\/)/.test(href)) return true;
  const path = normalize(join(dirname(page), decodeURI(href.split('#')[0])));
  const isExcluded = notInSite.some((name) => path === name || path.startsWith(name.replace('**', '')));
  return !isExcluded && !path.startsWith('..') && path.endsWith('.md') && existsSync(join(docs, path));
}
