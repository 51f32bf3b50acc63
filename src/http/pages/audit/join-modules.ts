import { readFileSync } from 'node:fs';

/**
 * The compiled modules of the page, in an order in which each stands after those that it imports. Their comments stay, so that
 * an auditor can read the script that a browser runs.
 */
export const pageModules = [
  ...['bytes', 'tree', 'entry', 'tiles', 'note', 'kept', 'verdict', 'marks'],
  ...['replies', 'elements', 'fragment', 'service-client', 'alarms', 'checks'],
  ...['sign-in', 'event-list', 'stream-view', 'status-view', 'verdict-view', 'main'],
] as const;

/**
 * Joins the modules to one script, which the page contains. So one digest in the policy names all code that may run, and a page
 * never mixes modules of two versions. Names at the top level must be unique: a test compares them.
 */
export function joinPageModules(): string {
  return pageModules.map((name) => withoutImports(readModule(name))).join('\n');
}

/** Returns the compiled text of a module. @throws Error when the build lacks it */
export function readModule(name: string): string {
  return readFileSync(new URL(`browser/${name}.js`, import.meta.url), 'utf8');
}

function withoutImports(text: string): string {
  return text
    .replaceAll(/^import [^;]*;\n/gm, '')
    .replaceAll(/^export (?=async |class |const |function )/gm, '')
    .replace(/^export \{\};\n/m, '')
    .replace(/^\/\/# sourceMappingURL=.*\n?/m, '');
}
