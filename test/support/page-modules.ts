import { readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { readPageModule } from '../../src/http/pages/join-modules.js';

const browser = join(import.meta.dirname, '..', '..', '..', 'src', 'http', 'pages', 'browser');

/** The faults that would break the script of a page, which `joinPageModules` makes. */
interface PageModulesReport {
  /** The modules of the page in the source, with those that all pages share, sorted. */
  readonly modules: readonly string[];
  /** Imports of a module that does not stand before the importing one. */
  readonly misplaced: readonly string[];
  /** Names that two modules declare at the top level. */
  readonly double: readonly string[];
  readonly declared: number;
}

/** Examines the compiled modules of a page in the order in which its script contains them. */
export function examinePageModules(folder: string, names: readonly string[]): PageModulesReport {
  const misplaced: string[] = [];
  const double: string[] = [];
  const declared = new Set<string>();
  for (const [place, name] of names.entries()) {
    const text = readPageModule(name);
    for (const [, path = ''] of text.matchAll(/from '(\.[^']*)\.js'/g)) {
      const imported = posix.join(posix.dirname(name), path);
      if (!names.slice(0, place).includes(imported)) misplaced.push(`${name} imports ${imported}`);
    }
    const declarations = /^(?:export )?(?:async )?(?:const|let|class|function) (\[[^\]]*\]|\w+)/gm;
    for (const [, found = ''] of text.matchAll(declarations)) {
      if (declared.has(found)) double.push(`${name} declares ${found} too`);
      declared.add(found);
    }
  }
  const modules = [...modulesIn(''), ...modulesIn(`${folder}/`)].sort();
  return { modules, misplaced, double, declared: declared.size };
}

function modulesIn(folder: string): readonly string[] {
  return readdirSync(join(browser, folder))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => folder + file.slice(0, -'.ts'.length));
}
