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
