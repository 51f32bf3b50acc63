import { readFileSync } from 'node:fs';

/**
 * Joins the compiled modules of a page to one script, which the page contains. So one digest in the policy names all code that
 * may run, and a page never mixes modules of two versions. Names at the top level must be unique: a test compares them.
 * Comments stay, so that a reader of the page can read the script that a browser runs.
 * @param names paths below `browser/` without an ending, in an order in which each module stands after those that it imports
 * @throws Error when the build lacks a module
 */
export function joinPageModules(names: readonly string[]): string {
  return names.map((name) => withoutImports(readPageModule(name))).join('\n');
}

/** Returns the compiled text of a module. @throws Error when the build lacks it */
export function readPageModule(name: string): string {
  return readFileSync(new URL(`browser/${name}.js`, import.meta.url), 'utf8');
}

function withoutImports(text: string): string {
  return text
    .replaceAll(/^import [^;]*;\n/gm, '')
    .replaceAll(/^export (?=async |class |const |function )/gm, '')
    .replace(/^export \{\};\n/m, '')
    .replace(/^\/\/# sourceMappingURL=.*\n?/m, '');
}
