/**
 * The style sheet of the page that opens shares. `--room` is the height that a file may take, so that title, main action and file
 * fit one screen. `accent.ts` names the backgrounds that an accent must stand out from.
 */
export const sharePageStyle = `
:root { color-scheme: light dark; --text: #1b2330; --faint: #526070; --back: #eef1f6; --card: #fff; --soft: #f6f8fb; --line: #7f8c9d; --hair: #d9dfe8; --alarm: #a3121f;
  --accent: var(--accent-light, #1f4fbf); --on-accent: var(--on-accent-light, #fff); --on-page: 11.5rem }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8ecf2; --faint: #a9b5c4; --back: #12161c; --card: #1b212a; --soft: #212833; --line: #718093; --hair: #313a47; --alarm: #ff9aa2;
    --accent: var(--accent-dark, #8fb3ff); --on-accent: var(--on-accent-dark, #000) }
}
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
body { margin: 0; min-height: 100vh; min-height: 100dvh; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif }
[hidden], .symbols { display: none !important }
h1, h2, p, figure, blockquote, ul { margin: 0; padding: 0 }
ul { list-style: none }
.icon { width: 1.5em; height: 1.5em; flex: none; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round }
.faint { color: var(--faint) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
h1:focus { outline: none }
a { color: var(--accent); overflow-wrap: anywhere }

.bar { background: var(--card); border-bottom: 1px solid var(--hair) }
.bar div { display: flex; align-items: center; gap: .75rem; max-width: 72rem; margin: 0 auto; padding: .75rem 1.5rem }
.mark { display: grid; place-items: center; width: 2rem; height: 2rem; flex: none; border-radius: .5rem; background: var(--accent); color: var(--on-accent); font-weight: 700 }
.project { min-width: 0; font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
main { width: 100%; max-width: 72rem; margin: 0 auto; padding: 1.25rem 1.5rem 3rem }
.loading { display: flex; justify-content: center; align-items: center; gap: .75rem; margin-top: 25vh; color: var(--faint); animation: appear .2s .4s backwards }
@keyframes appear { from { opacity: 0 } }

.card { max-width: 26rem; margin: clamp(1rem, 10vh, 7rem) auto 0; padding: 2rem; background: var(--card); border: 1px solid var(--hair); border-radius: 1rem; box-shadow: 0 1px 2px #0b16280d, 0 12px 32px #0b162814 }
.card h1 { margin: 1rem 0 .25rem; font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere }
.badge { display: grid; place-items: center; width: 3rem; height: 3rem; border-radius: .875rem; background: color-mix(in srgb, var(--accent) 14%, var(--card)); color: var(--accent) }
label { display: block; margin: 1.25rem 0 .375rem; font-weight: 600 }
.field { position: relative }
input { width: 100%; min-height: 3rem; padding: .5rem 3.25rem .5rem .875rem; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: .625rem }
input[aria-invalid] { border-color: var(--alarm) }
.alarm { min-height: 1.5rem; margin-top: .5rem; color: var(--alarm); overflow-wrap: anywhere }
.wait { font-variant-numeric: tabular-nums }
button, .main, .second { font: inherit; color: inherit; cursor: pointer }
.main, .second { display: inline-flex; align-items: center; justify-content: center; gap: .5rem; min-height: 2.875rem; padding: .5rem 1.25rem; border: 1px solid transparent; border-radius: .625rem; font-weight: 600; line-height: 1.25; text-align: center; text-decoration: none; white-space: nowrap }
.main { background: var(--accent); color: var(--on-accent) }
.main:hover, .second:hover { filter: brightness(.94) }
.second { background: var(--card); border-color: var(--line); color: var(--text) }
.card .main { width: 100%; margin-top: 1rem }
.main[disabled] { background: var(--soft); color: var(--faint); border-color: var(--hair); cursor: not-allowed; filter: none }
.main.is-busy { cursor: progress }
.quiet { display: grid; place-items: center; width: 2.75rem; height: 2.75rem; padding: 0; border: 0; border-radius: .5rem; background: none; color: var(--faint) }
.quiet:hover { background: var(--soft); color: var(--text) }
.quiet[disabled] { opacity: .35; cursor: default }
.field .quiet { position: absolute; inset-block: .125rem; inset-inline-end: .25rem }
.field .quiet[aria-pressed=true] .icon:first-child, .field .quiet[aria-pressed=false] .icon:last-child { display: none }

.head { display: flex; align-items: center; gap: 1rem 2rem; margin-bottom: 1rem }
.about { flex: 1; min-width: 0 }
.about h1 { font-size: 1.375rem; line-height: 1.3; overflow-wrap: anywhere; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden }
.facts span { unicode-bidi: isolate }
.facts span:not(:last-child)::after { content: " · " }
.actions { display: flex; flex-wrap: wrap; gap: .75rem }
.actions:empty { display: none }
.sender { margin-bottom: 1rem; padding: .75rem 1rem; background: var(--card); border: 1px solid var(--hair); border-inline-start: 4px solid var(--accent); border-radius: .625rem }
.sender figcaption { color: var(--faint); font-size: .875rem }
.sender blockquote { max-height: 6rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere }
.turn { display: flex; align-items: center; gap: .5rem; margin-bottom: .5rem }
.turn p { flex: 1; min-width: 0; text-align: center; overflow-wrap: anywhere }
.turn .faint { white-space: nowrap }

.stage { --room: max(14rem, calc(100dvh - var(--on-page) - var(--of-note, 0rem) - var(--of-turn, 0rem))) }
.sender:not([hidden]) ~ .stage { --of-note: 5.5rem }
.turn:not([hidden]) ~ .stage { --of-turn: 3.25rem }
.stage { position: relative; display: grid; grid-template-columns: minmax(0, 1fr); place-items: center; min-height: 12rem; overflow: hidden; background: var(--card); border: 1px solid var(--hair); border-radius: .875rem }
.stage.is-loading { min-height: min(20rem, var(--room)) }
.stage > img { display: block; max-width: 100%; max-height: var(--room); background: repeating-conic-gradient(#c3cad3 0 25%, #edf0f4 0 50%) 0 0 / 20px 20px }
.stage.is-loading > img, .stage.is-loading > iframe { position: absolute; opacity: 0 }
.stage.video { background: #000; border-color: #000 }
.stage video { display: block; width: 100%; max-height: var(--room); aspect-ratio: auto 16 / 9; object-fit: contain }
.stage iframe { display: block; width: 100%; height: var(--room); border: 0; background: #fff }
.sound { display: grid; justify-items: center; gap: 1.25rem; width: 100%; padding: 1.5rem }
.sound img { max-width: min(100%, 22rem); max-height: calc(var(--room) - 7rem); border-radius: .625rem }
.sound audio { width: 100% }
.stage.empty { align-content: center; justify-items: center; gap: .75rem; padding: 2.5rem 1.5rem; text-align: center; color: var(--faint) }
.empty > .icon { width: 4rem; height: 4rem; stroke-width: 1 }
.empty p { max-width: 32rem }
.spinner { width: 2rem; height: 2rem; border: 3px solid var(--hair); border-top-color: var(--accent); border-radius: 50%; animation: turn .9s linear infinite }
.stage > .spinner { position: absolute; inset: 0; margin: auto; pointer-events: none }
.stage.audio > .spinner { display: none }
@keyframes turn { to { transform: rotate(1turn) } }
@media (prefers-reduced-motion: reduce) { .spinner { animation-duration: 4s } }
.remark { margin-top: .5rem; color: var(--faint) }
.remark:empty { display: none }

h2 { margin: 1.5rem 0 .75rem; font-size: 1.0625rem }
.gallery { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 9.5rem), 1fr)); gap: .75rem }
.gallery button { display: flex; flex-direction: column; width: 100%; height: 100%; padding: 0 0 .625rem; overflow: hidden; text-align: start; background: var(--card); border: 1px solid var(--hair); border-radius: .75rem }
.gallery button:hover { border-color: var(--line) }
.gallery button[aria-current=true] { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent) }
.picture { position: relative; display: grid; place-items: center; aspect-ratio: 4 / 3; margin-bottom: .5rem; overflow: hidden; background: var(--soft); color: var(--faint) }
.picture .icon { width: 2.5rem; height: 2.5rem; stroke-width: 1.25 }
.picture img { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: cover; background: repeating-conic-gradient(#c3cad3 0 25%, #edf0f4 0 50%) 0 0 / 16px 16px }
.gallery .name, .gallery .faint { padding: 0 .75rem; overflow-wrap: anywhere }
.gallery .name { font-weight: 600; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden }
.gallery .faint { font-size: .875rem }
details { margin-top: 1.25rem; color: var(--faint) }
summary { width: fit-content; min-height: 2rem; cursor: pointer; color: var(--text); font-weight: 600 }
details li { padding: .25rem 0 }

@media (max-width: 40rem) {
  :root { --on-page: 17rem }
  .bar div { padding: .625rem 1rem }
  main { padding: 1rem 1rem 2rem }
  .card { padding: 1.5rem; margin-top: 1rem }
  .head { flex-direction: column; align-items: stretch; gap: .75rem }
  .about h1 { font-size: 1.25rem }
  .actions > * { flex: 1 }
  .gallery { grid-template-columns: repeat(auto-fill, minmax(min(100%, 8rem), 1fr)) }
}
`;
