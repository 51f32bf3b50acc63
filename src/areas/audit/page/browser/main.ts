import { makeAlarms, makeVerdictView } from './views/verdict-view.js';
import { makePageChecks } from './proof/checks.js';
import { byId } from '../../../../http/pages/browser/elements.js';
import { forgetOffered, makeEventList, makeStreamView } from './views/event-list.js';
import { type PageState, fieldsOfView, fragmentOf, stateOfFragment } from './entry.js';
import { makeKeptDevice } from './kept-device.js';
import { makeKept } from './kept.js';
import { filterValueOf, makeNames } from './names.js';
import { CallFailed, makePageClient, sentenceOfCall } from './service-client.js';
import { makeSignIn } from './sign-in.js';
import { makeStatusView } from './views/status-view.js';

/** The page asks for another checkpoint so often while it is visible. */
const pollMs = 60_000;
const views = ['events', 'stream', 'status'] as const;

const app = byId('app', HTMLElement);
const account = byId('account', HTMLElement);
const kept = makeKept(() => localStorage);
const alarms = makeAlarms();

const client = makePageClient({
  onEnd: () => leave('Your session has ended. Sign in again; the filters are kept.'),
  onSecondFactor: () => {
    leave('');
    signIn.askSecondFactor();
  },
});
const verdictView = makeVerdictView({ kept, alarms });
const statusView = makeStatusView({ kept, onChanged: () => void checkAgain() });
const checks = makePageChecks({
  ...{ client, kept },
  onChecked: (checked) => {
    verdictView.show(checked);
    statusView.show(checked);
  },
});
const names = makeNames(client);
const eventLists = { events: eventListOf('events'), stream: eventListOf('stream') };
const streamView = makeStreamView(client);
const device = makeKeptDevice(() => localStorage);
const signIn = makeSignIn({ client, device, onSignedIn: (email) => void enter(email) });

byId('sign-out', HTMLButtonElement).addEventListener('click', () => {
  // The session ends in this page even where the service does not answer.
  void client.signOut().catch(() => undefined);
  leave('You are signed out.');
});
byId('print', HTMLButtonElement).addEventListener('click', () => print());
// The menu of the browser prints too.
addEventListener('beforeprint', () => {
  const at = new Date().toISOString();
  byId('report-text', HTMLElement).textContent =
    `Report of ${at}, by ${account.textContent}, on ${location.href}. The browser has checked what stands here, unless a line says that it has not.`;
});
byId('again', HTMLButtonElement).addEventListener('click', () => void checkAgain());
for (const view of ['events', 'stream'] as const) {
  byId(`${view}-form`, HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    const before = location.hash;
    location.hash = fragmentOf(stateOfForm(view));
    // The same search again changes no fragment.
    if (location.hash === before) showState();
  });
}
addEventListener('hashchange', showState);
setInterval(() => {
  if (document.visibilityState === 'visible' && client.hasSession() && !app.hidden) void checks.refresh();
}, pollMs);
signIn.ask('');

async function enter(email: string): Promise<void> {
  try {
    await client.getJson('/audit/status');
  } catch (error) {
    if (error instanceof CallFailed && error.code === 'insufficient_role') {
      void client.signOut().catch(() => undefined);
      leave(sentenceOfCall(error));
      return;
    }
    if (!client.hasSession()) return;
    if (error instanceof CallFailed && error.code === 'two_factor_required') {
      await refuseWithoutFactor();
      return;
    }
    // The checks report everything else.
  }
  signIn.hide();
  account.textContent = email;
  app.hidden = false;
  byId('verdict-title', HTMLElement).focus();
  await checkAgain();
}

/** The form of the second factor is shown already. An account without a factor cannot fill it in. */
async function refuseWithoutFactor(): Promise<void> {
  try {
    if (await signIn.hasFactor()) return;
  } catch {
    // The form stays, and its next attempt says what is wrong.
    return;
  }
  void client.signOut().catch(() => undefined);
  leave('Auditors need a second factor. Add a passkey or an authenticator app to this account first.');
}

function leave(why: string): void {
  app.hidden = true;
  account.textContent = '';
  for (const list of Object.values(eventLists)) list.clear();
  streamView.show('', '');
  names.forget();
  forgetOffered();
  signIn.ask(why);
}

async function checkAgain(): Promise<void> {
  await checks.refresh();
  if (client.hasSession()) showState();
}

function showState(): void {
  if (app.hidden) return;
  const { view, fields } = stateOfFragment(location.hash);
  for (const name of views) {
    byId(`${name}-view`, HTMLElement).hidden = name !== view;
    const link = byId(`${name}-link`, HTMLAnchorElement);
    if (name === view) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  for (const name of fieldsOfView[view]) byId(`${view}-${name}`, HTMLInputElement).value = fields[name] ?? '';
  // A list that is not shown is not checked again, so it must not keep an alarm.
  for (const name of ['events', 'stream'] as const) if (name !== view) eventLists[name].clear();
  if (view === 'events') eventLists.events.show(fields);
  if (view === 'stream') showStream(fields);
}

function showStream({ stream = '', as_of: moment = '' }: PageState['fields']): void {
  streamView.show(stream, moment);
  if (stream === '') eventLists.stream.clear();
  else eventLists.stream.show({ stream });
}

function stateOfForm(view: 'events' | 'stream'): PageState {
  const entries = fieldsOfView[view].map((name) => [
    name,
    filterValueOf(names, name, byId(`${view}-${name}`, HTMLInputElement).value.trim()),
  ]);
  return {
    view,
    fields: Object.fromEntries(entries.filter(([, value]) => value !== '')) as PageState['fields'],
  };
}

function eventListOf(view: 'events' | 'stream') {
  return makeEventList({
    ...{ client, names, mark: checks.mark },
    list: byId(`${view}-list`, HTMLElement),
    more: byId(`${view}-more`, HTMLButtonElement),
    note: byId(`${view}-list-note`, HTMLElement),
    onContradictions: (indexes) => {
      const sentence =
        indexes.length === 0
          ? null
          : `Shown events that are NOT under the signed checkpoint: ${indexes.join(', ')}.`;
      alarms.set('events', sentence);
    },
  });
}
