import { typeExample } from '../routes/audit-query.js';

export const auditPageStyle = `
:root { color-scheme: light dark; --text: #1c2430; --faint: #526070; --back: #f4f6f9; --card: #fff; --line: #8592a3; --strong: #1f4fbf; --alarm: #a3121f; --good: #14663a; --doubt: #7a4b00 }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8ecf2; --faint: #aab6c5; --back: #12161c; --card: #1b212a; --line: #6b7a8d; --strong: #8fb3ff; --alarm: #ff9aa2; --good: #7fd8a4; --doubt: #f0c274 }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
header, main, .alarm { width: 100%; max-width: 72rem; margin: 0 auto; padding: .5rem 1rem }
main { padding-bottom: 3rem }
h1 { margin: .5rem 0 0; font-size: 1.5rem }
h2 { margin: 0 0 .5rem; font-size: 1.25rem }
h3 { margin: 1.5rem 0 .25rem; font-size: 1.05rem }
h4 { margin: 1rem 0 .25rem; font-size: 1rem }
h2:focus { outline: none }
p { margin: .5rem 0; overflow-wrap: anywhere }
[hidden] { display: none !important }
.card { background: var(--card); border-radius: .75rem; padding: 1.25rem; margin: 1rem 0 }
.narrow { max-width: 28rem; margin: 8vh auto 0 }
label { display: block; margin: .75rem 0 .25rem; font-weight: 600 }
input, button { font: inherit; min-height: 2.75rem; border-radius: .5rem; padding: .5rem .75rem }
input { width: 100%; border: 1px solid var(--line); background: var(--card); color: inherit }
button { margin: 1rem .5rem 0 0; border: 1px solid var(--strong); background: var(--strong); color: var(--card); font-weight: 600; cursor: pointer }
button.quiet { background: none; color: var(--strong) }
button[disabled] { opacity: .6; cursor: progress }
:focus-visible { outline: 3px solid var(--strong); outline-offset: 2px }
.filters { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(16rem, 100%), 1fr)); gap: 0 1rem; align-items: end }
.filters button { justify-self: start }
.faint { color: var(--faint) }
.note { color: var(--alarm); min-height: 1.5rem }
nav { display: flex; flex-wrap: wrap; gap: .5rem }
nav a { padding: .5rem 1rem; border-radius: .5rem; border: 1px solid var(--line); text-decoration: none }
nav a[aria-current] { background: var(--strong); border-color: var(--strong); color: var(--card); font-weight: 600 }
a { color: var(--strong); overflow-wrap: anywhere }
.alarm { position: sticky; top: 0; z-index: 1; border: 4px solid var(--alarm); background: var(--card); color: var(--alarm); font-weight: 600 }
#verdict { border-left: .5rem solid var(--line) }
#verdict[data-verdict=first], #verdict[data-verdict=continues] { border-color: var(--good) }
#verdict[data-verdict=unchecked] { border-color: var(--doubt) }
#verdict[data-verdict=failed] { border-color: var(--alarm) }
[data-verdict=failed] #verdict-text { color: var(--alarm); font-weight: 700 }
[data-verdict=unchecked] #verdict-text { color: var(--doubt); font-weight: 700 }
.events { list-style: none; margin: 0; padding: 0 }
.events li { border-top: 1px solid var(--line); padding: .5rem 0 }
.events p { margin: .125rem 0 }
.mark { font-weight: 600; font-size: .9rem }
.mark[data-mark=under] { color: var(--good) }
.mark[data-mark=unsigned], .mark[data-mark=unchecked] { color: var(--doubt) }
.mark[data-mark=not] { color: var(--card); background: var(--alarm); padding: .25rem .5rem; border-radius: .25rem }
pre { font: .8rem/1.5 ui-monospace, monospace; background: var(--back); padding: .75rem; overflow: auto; max-height: 60vh; border-radius: .25rem }
code { font: .8rem/1.5 ui-monospace, monospace; overflow-wrap: anywhere }
summary { cursor: pointer; color: var(--strong) }
dl { display: grid; grid-template-columns: minmax(8rem, 1fr) 3fr; gap: .25rem 1rem }
dt { color: var(--faint) }
dd { margin: 0; overflow-wrap: anywhere }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
td, th { text-align: left; padding: .25rem .5rem; border-top: 1px solid var(--line); overflow-wrap: anywhere }
.report { display: none }
@media print {
  :root { color-scheme: light; --text: #000; --faint: #333; --back: #fff; --card: #fff; --alarm: #a3121f; --good: #14663a; --doubt: #7a4b00 }
  form, nav, button, summary { display: none !important }
  .report { display: block }
  .card { padding: 0 }
  .events li { break-inside: avoid }
}
`;

/** Makes the markup of the page for auditors. The script finds its elements by their ids. @param types all types of events */
export function makeAuditPageBody(types: readonly string[]): string {
  return `
<header>
<h1>Audit log</h1>
<p class="faint"><span id="account"></span></p>
</header>
<div id="alarm" class="alarm" role="alert" hidden></div>
<main>
<noscript><p>This page needs JavaScript: your browser checks the log itself.</p></noscript>
<form id="sign-in" class="card narrow" hidden novalidate aria-labelledby="sign-in-title">
<h2 id="sign-in-title">Sign in as an auditor</h2>
<label for="email">E-mail address</label>
<input id="email" type="email" autocomplete="username" required aria-describedby="sign-in-note">
<div id="with-password">
<label for="password">Password</label>
<input id="password" type="password" autocomplete="current-password" aria-describedby="sign-in-note">
<button id="mail-code" type="button" class="quiet">Mail me a code instead</button>
</div>
<div id="with-code" hidden>
<label for="mailed-code">Code from the mail</label>
<input id="mailed-code" autocomplete="one-time-code" aria-describedby="sign-in-note">
<button id="use-password" type="button" class="quiet">Use the password</button>
</div>
<button id="sign-in-button">Sign in</button>
<button id="use-passkey" type="button" class="quiet" hidden>Sign in with a passkey</button>
<p id="sign-in-note" class="note" role="alert"></p>
<p class="faint">The page keeps the session in its memory only. A reload asks again.</p>
</form>
<form id="second-factor" class="card narrow" hidden novalidate aria-labelledby="second-factor-title">
<h2 id="second-factor-title">Second factor</h2>
<label for="factor">Code of your authenticator app, or a recovery code</label>
<input id="factor" autocomplete="one-time-code" autocapitalize="characters" spellcheck="false" aria-describedby="second-factor-note">
<button id="second-factor-button">Go on</button>
<button id="prove-passkey" type="button" class="quiet" hidden>Use a passkey</button>
<button id="start-again" type="button" class="quiet">Sign in as another account</button>
<p id="second-factor-note" class="note" role="alert"></p>
</form>
<div id="app" hidden>
<section id="verdict" class="card" aria-labelledby="verdict-title">
<h2 id="verdict-title" tabindex="-1">What this browser checked</h2>
<p id="verdict-text" role="status"></p>
<p id="signature-text"></p>
<div id="evidence"></div>
<p id="report-text" class="report"></p>
<button id="again">Check again</button>
<button id="print" class="quiet">Print a report</button>
<button id="sign-out" class="quiet">Sign out</button>
</section>
<nav aria-label="Views">
<a id="events-link" href="#view=events">Events</a>
<a id="stream-link" href="#view=stream">One stream</a>
<a id="status-link" href="#view=status">Status</a>
</nav>
<section id="events-view" class="card" aria-labelledby="events-title" hidden>
<h2 id="events-title">Events</h2>
<form id="events-form" class="filters" novalidate>
${field('events-stream', 'Stream', 'share-0196a000-…', 'shown-streams')}
${field('events-type', 'Type', typeExample, 'all-types')}
${field('events-actor', 'Actor', 'user:0196a000-…', 'shown-actors')}
${field('events-project', 'Project', '0196a000-…', 'shown-projects')}
${field('events-from', 'From (index or UTC time)', '2026-01-02T03:04:05Z')}
${field('events-to', 'To (index or UTC time)', '4711')}
<button>Search</button>
</form>
<p class="faint">Each mark is a proof that this browser has checked: the raw event is the leaf at its index, under the signed
root. The sentences explain the events and are not part of the proof, nor are the names. Stream, actor and project also take a name
that a shown event has.</p>
${listOf('events')}
</section>
<section id="stream-view" class="card" aria-labelledby="stream-title" hidden>
<h2 id="stream-title">One stream</h2>
<form id="stream-form" class="filters" novalidate>
${field('stream-stream', 'Stream', 'project-0196a000-…')}
${field('stream-as_of', 'As of (index or UTC time; empty: now)', '4711')}
<button>Show</button>
</form>
<h3>Documents at this moment</h3>
<p class="faint">The service computes the documents. This browser checks the events below, which they follow from. A link to
the stream in an event shows the moment after that event.</p>
<p id="stream-note" role="status"></p>
<div id="documents"></div>
<h3>History</h3>
${listOf('stream')}
</section>
<section id="status-view" class="card" aria-labelledby="status-title" hidden>
<h2 id="status-title">Status</h2>
<p class="faint">The service reports this. This browser has checked what stands at the top.</p>
<dl id="status-facts"></dl>
<h3 id="witnesses-title">Witnesses</h3>
<div class="wide"><table aria-labelledby="witnesses-title">
<thead><tr><th scope="col">Witness</th><th scope="col">Events that it has cosigned</th><th scope="col">Problem</th></tr></thead>
<tbody id="witnesses"></tbody></table></div>
<h3>What this browser keeps</h3>
<div id="kept"></div>
<form id="add-key" novalidate>
<label for="key">Add a public key (vkey) that the operator gave you by another way</label>
<input id="key" autocomplete="off" spellcheck="false" autocapitalize="none" aria-describedby="key-note">
<button>Remember this key</button>
<p id="key-note" class="note" role="status"></p>
</form>
<button id="forget" class="quiet">Forget the kept checkpoint and keys</button>
</section>
</div>
</main>
<datalist id="all-types">${types.map((type) => `<option value="${type}">`).join('')}</datalist>
<datalist id="shown-streams"></datalist>
<datalist id="shown-actors"></datalist>
<datalist id="shown-projects"></datalist>
`;
}

/** @param list the pick list of its values; none when left out */
function field(id: string, label: string, example: string, list?: string): string {
  const picked = list === undefined ? '' : ` list="${list}"`;
  return `<div><label for="${id}">${label}</label>
<input id="${id}"${picked} placeholder="${example}" autocomplete="off" spellcheck="false" autocapitalize="none"></div>`;
}

/** A list of events, what it says of itself, and the button that reads on. */
function listOf(view: string): string {
  return `<p id="${view}-list-note" role="status"></p>
<ol id="${view}-list" class="events"></ol>
<button id="${view}-more" class="quiet" hidden>Search on</button>`;
}
