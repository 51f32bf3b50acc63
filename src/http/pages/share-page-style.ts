export const sharePageStyle = `
:root { color-scheme: light dark; --text: #1c2430; --faint: #526070; --back: #f4f6f9; --card: #fff; --line: #8592a3; --strong: #1f4fbf; --alarm: #a3121f }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8ecf2; --faint: #aab6c5; --back: #12161c; --card: #1b212a; --line: #6b7a8d; --strong: #8fb3ff; --alarm: #ff9aa2 }
}
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 64rem; margin: 0 auto; padding: 1.5rem 1rem 3rem }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; overflow-wrap: anywhere }
h1:focus { outline: none }
p { margin: .5rem 0 }
[hidden] { display: none !important }
form, #opened { background: var(--card); border-radius: .75rem; padding: 1.25rem }
form { max-width: 26rem; margin: 10vh auto 0 }
label { display: block; margin: 1rem 0 .25rem; font-weight: 600 }
input, button, .button { font: inherit; min-height: 2.75rem; border-radius: .5rem; padding: .5rem .75rem }
input { width: 100%; border: 1px solid var(--line); background: var(--card); color: inherit }
button, .button { display: inline-block; border: 0; background: var(--strong); color: var(--card); font-weight: 600; text-decoration: none; cursor: pointer }
button { width: 100%; margin-top: 1rem }
button[disabled] { opacity: .6; cursor: progress }
:focus-visible { outline: 3px solid var(--strong); outline-offset: 2px }
.faint { color: var(--faint) }
.alarm { color: var(--alarm); min-height: 1.5rem }
.media { margin: 1rem 0 }
.media img, .media video { display: block; max-width: 100%; max-height: 75vh; margin: 0 auto; border-radius: .25rem; background: #000 }
.media audio { width: 100% }
ul { padding-left: 1.25rem }
a { color: var(--strong) }
`;
