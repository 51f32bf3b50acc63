/**
 * The script of the page that opens shares: plain JavaScript for browsers of 2020 or later. The session and the
 * password stay in its memory. It shows content of a reply only as text or as the address of a media element.
 */
export const sharePageScript = String.raw`
'use strict';
(() => {
  const find = (id) => document.getElementById(id);
  const [form, input, button, alarm] = ['ask', 'password', 'open', 'alarm'].map(find);
  const [opened, title, facts, place, links, note] = ['opened', 'title', 'facts', 'media', 'links', 'note'].map(find);
  const api = '/api/v1/shares/' + location.pathname.split('/')[2];
  // Milliseconds: how early links are renewed before they expire, and the pause before a retry.
  const aheadMs = 60000;
  const againMs = 10000;
  let attempt = null;
  let state = null;
  let timer = 0;

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const password = input.value;
    if (button.disabled) return;
    if (password === '') return complain('Type the password.');
    // A retry after a lost reply uses the same key, so that it counts as one use.
    if (attempt === null || attempt.password !== password) attempt = { password, key: makeKey() };
    button.disabled = true;
    alarm.textContent = '';
    const reply = await post('/verify', { password }, { 'idempotency-key': attempt.key });
    button.disabled = false;
    if (reply.status !== 0 && reply.status < 500 && reply.status !== 409) attempt = null;
    if (reply.status === 200) return show(reply);
    complain(explain(reply));
  });

  async function post(path, body, headers = {}) {
    try {
      const response = await fetch(api + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        cache: 'no-store',
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
      });
      // The clock of this machine may be wrong, so the script computes durations from the service's time.
      const sent = Date.parse(response.headers.get('date') || '');
      const aheadOfService = Number.isNaN(sent) ? 0 : Date.now() - sent;
      const json = await response.json();
      return { status: response.status, code: json.code, data: json.data, wait: Number(response.headers.get('retry-after')), aheadOfService };
    } catch {
      return { status: 0, code: '', data: null, wait: 0, aheadOfService: 0 };
    }
  }

  function explain({ status, code, wait }) {
    if (code === 'password_not_checkable') return 'The password of this link cannot be checked any more. Ask whoever sent it to set it again.';
    switch (status) {
      case 400: return 'This cannot be the password: it has 1 to 128 characters.';
      case 401: return 'The password is wrong.';
      case 404: return 'This link does not work. It may have expired or been withdrawn; ask whoever sent it for another one.';
      case 429: return 'Too many tries. Wait ' + waitingTime(wait) + ', then try again.';
      default: return 'The service cannot be reached just now. Try again in a moment.';
    }
  }

  function waitingTime(seconds) {
    if (!(seconds > 0)) return 'a moment';
    if (seconds < 120) return Math.ceil(seconds) + ' seconds';
    return Math.ceil(seconds / 60) + ' minutes';
  }

  function complain(text) {
    // Emptied first, so that screen readers announce the same words again.
    alarm.textContent = '';
    setTimeout(() => { alarm.textContent = text; }, 50);
    input.setAttribute('aria-invalid', 'true');
    input.focus();
    input.select();
  }

  function show({ data, aheadOfService }) {
    input.value = '';
    input.removeAttribute('aria-invalid');
    state = { session: data.share_session, endsAt: Date.parse(data.expires_at), data, player: null, fresh: null };
    if (!allowOnly(data.media)) return;
    form.hidden = true;
    opened.hidden = false;
    title.textContent = data.share.name;
    document.title = data.share.name;
    facts.textContent = factsOf(data).join(' · ');
    note.textContent = '';
    place.replaceChildren();
    const shown = choose(data);
    if (shown !== null) place.append(makePlayer(shown, data));
    writeLinks();
    schedule(aheadOfService);
    title.focus();
  }

  /** Restricts the page to the origins of the media. Returns false while the page reloads for another origin. */
  function allowOnly(media) {
    const origins = [...new Set(media.map(({ url }) => new URL(url).origin))];
    const known = document.head.querySelector('meta[data-origins]');
    if (known !== null) {
      if (origins.every((origin) => known.dataset.origins.split(' ').includes(origin))) return true;
      location.reload();
      return false;
    }
    const meta = document.createElement('meta');
    meta.httpEquiv = 'Content-Security-Policy';
    meta.content = 'img-src ' + origins.join(' ') + '; media-src ' + origins.join(' ');
    meta.dataset.origins = origins.join(' ');
    document.head.append(meta);
    return true;
  }

  function factsOf({ share, asset }) {
    return [
      asset.media_type,
      sizeOf(asset.size),
      share.expires_at === null ? null : 'open until ' + new Date(share.expires_at).toLocaleString('en'),
      share.remaining_uses === null ? null : share.remaining_uses === 1 ? 'opens once more' : 'opens ' + share.remaining_uses + ' more times',
    ].filter((fact) => fact !== null);
  }

  function sizeOf(bytes) {
    const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
    let size = bytes;
    let unit = 0;
    for (; size >= 1000 && unit < units.length - 1; unit += 1) size /= 1000;
    return (unit === 0 ? size : size.toFixed(1)) + ' ' + units[unit];
  }

  /** Returns the first file that this browser can show or play; null if there is none. */
  function choose({ asset, media }) {
    const ofKind = media.filter(({ media_type }) => media_type.startsWith(asset.kind + '/'));
    if (asset.kind === 'image') return ofKind[0] || null;
    if (asset.kind !== 'video' && asset.kind !== 'audio') return null;
    const probe = document.createElement(asset.kind);
    return ofKind.find(({ media_type }) => probe.canPlayType(media_type) !== '') || ofKind[0] || null;
  }

  function makePlayer(file, { asset, share, media }) {
    const isImage = asset.kind === 'image';
    const player = document.createElement(isImage ? 'img' : asset.kind);
    if (isImage) {
      player.alt = share.name;
    } else {
      player.controls = true;
      player.preload = 'metadata';
      player.setAttribute('aria-label', share.name);
      if (!share.allow_download) player.setAttribute('controlslist', 'nodownload');
    }
    if (asset.kind === 'video') {
      player.playsInline = true;
      const poster = media.find(({ media_type }) => media_type.startsWith('image/'));
      if (poster !== undefined) player.poster = poster.url;
    }
    player.addEventListener('error', () => {
      // The link may have expired during playback. All other errors are formats that the browser cannot play.
      if (!isImage && state.fresh !== null) return swap();
      if (!isImage && Date.now() > state.renewAt) return renew();
      note.textContent = share.allow_download
        ? 'Your browser cannot show this file. You can download it.'
        : 'Your browser cannot show this file.';
    });
    if (!isImage) player.addEventListener('pause', () => { if (!player.ended) swap(); });
    player.src = file.url;
    state.player = { element: player, kind: file.kind, isImage };
    return player;
  }

  /** Continues with a fresh link at the same position. */
  function swap() {
    if (state === null || state.fresh === null || state.player === null) return;
    const { element } = state.player;
    const [at, wasPlaying, failed] = [element.currentTime, !element.paused, element.error !== null];
    const url = state.fresh;
    state.fresh = null;
    element.addEventListener('loadedmetadata', () => {
      element.currentTime = at;
      if (wasPlaying || failed) element.play().catch(() => undefined);
    }, { once: true });
    element.src = url;
  }

  function writeLinks() {
    const { share, asset, media } = state.data;
    links.replaceChildren();
    const own = media[0];
    if (share.allow_download) links.append(paragraph(link(own, 'Download', 'button')));
    else if (asset.kind === 'file') links.append(paragraph(link(own, 'Open', 'button')));
    if (!share.allow_download || media.length < 2) return;
    const list = document.createElement('ul');
    for (const file of media.slice(1)) {
      const item = document.createElement('li');
      item.append(link(file, file.kind + ' (' + file.media_type + ')', ''));
      list.append(item);
    }
    links.append(list);
  }

  function link({ url }, text, className) {
    const anchor = document.createElement('a');
    anchor.href = url;
    anchor.textContent = text;
    anchor.className = className;
    anchor.target = '_blank';
    anchor.rel = 'noopener noreferrer';
    return anchor;
  }

  function paragraph(content) {
    const element = document.createElement('p');
    element.append(content);
    return element;
  }

  function schedule(aheadOfService) {
    clearTimeout(timer);
    const first = Math.min(...state.data.media.map(({ expires_at }) => Date.parse(expires_at)));
    state.renewAt = first + aheadOfService - aheadMs;
    timer = setTimeout(renew, Math.max(1000, state.renewAt - Date.now()));
  }

  async function renew() {
    const mine = state;
    clearTimeout(timer);
    const reply = await post('/media', { share_session: mine.session });
    if (state !== mine) return;
    if (reply.status === 200) return takeOver(reply);
    if (reply.status === 401) return ask('Your session is over. Type the password to go on.');
    if (reply.status === 404) return ask(explain(reply));
    timer = setTimeout(renew, Math.max(againMs, reply.wait * 1000 || 0));
  }

  function takeOver({ data, aheadOfService }) {
    const before = state.data.media[0].expires_at;
    if (!allowOnly(data.media)) return;
    state.data = { ...state.data, media: data.media };
    writeLinks();
    const { player } = state;
    const file = player === null ? undefined : data.media.find(({ kind }) => kind === player.kind);
    if (file !== undefined && !player.isImage) {
      state.fresh = file.url;
      if (player.element.paused || player.element.error !== null) swap();
    }
    // An unchanged end is the end of the share, so no later link exists.
    if (Date.parse(data.media[0].expires_at) > Date.parse(before)) schedule(aheadOfService);
  }

  /** Returns to the password form. */
  function ask(text) {
    clearTimeout(timer);
    state = null;
    place.replaceChildren();
    links.replaceChildren();
    opened.hidden = true;
    form.hidden = false;
    document.title = 'Shared media';
    complain(text);
  }

  // Timers stop while the machine sleeps, so a return to the page renews expired links.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible' && state !== null && Date.now() > state.renewAt) renew();
  });

  function makeKey() {
    return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
  }

  form.hidden = false;
  input.focus();
})();
`;
