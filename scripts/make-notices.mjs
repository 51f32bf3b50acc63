// Writes what a package of the program must bring: THIRD-PARTY, the licences of the code that is bundled, and sbom.cdx.json, a
// CycloneDX list of all packages in the program and its guides. Both follow from the lock files, so that equal sources give equal bytes.
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sitePackages } from './site-packages.mjs';

const root = join(import.meta.dirname, '..');

/**
 * Writes the two files.
 * @param bundled the keys in the lock file of the packages whose code is in `dist`
 * @param seconds the time of the commit since 1970; undefined where it is not known
 */
export function makeNotices(bundled, seconds) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const site = JSON.parse(readFileSync(join(root, 'docs', 'package-lock.json'), 'utf8')).packages;
  const installed = closureOf(packages);
  writeFileSync(join(root, 'THIRD-PARTY'), noticesOf(packages, bundled));
  const all = [...new Set([...bundled, ...installed])].sort();
  const parts = [
    { packages, keys: all },
    { packages: site, keys: sitePackages.map((name) => `node_modules/${name}`) },
  ];
  const sbom = sbomOf(packages[''], parts, seconds);
  writeFileSync(join(root, 'sbom.cdx.json'), `${JSON.stringify(sbom, null, 1)}\n`);
}

/** Returns the packages that an installation of the program brings, by their keys in the lock file. */
function closureOf(packages) {
  const found = new Set();
  const add = (key) => {
    if (found.has(key)) return;
    found.add(key);
    for (const next of neededBy(packages, key)) add(next);
  };
  for (const name of Object.keys(packages[''].dependencies)) add(resolve(packages, '', name));
  return found;
}

function neededBy(packages, key) {
  const { dependencies, optionalDependencies } = packages[key];
  return Object.keys({ ...dependencies, ...optionalDependencies })
    .map((name) => resolve(packages, key, name))
    .filter((needed) => needed !== undefined);
}

/** Finds a package as Node does: in the folder of the package that needs it, then in those above. */
function resolve(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const key = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (packages[key] !== undefined) return key;
    if (folder === '') return undefined;
  }
}

function nameOf(packages, key) {
  return packages[key].name ?? key.slice(key.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function noticesOf(packages, bundled) {
  const byText = new Map();
  for (const key of [...bundled].sort()) {
    const folder = join(root, key);
    const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
    const text =
      files
        .sort()
        .map((file) => readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim())
        .join('\n\n') || 'The package contains no text of its licence.';
    const title = `${nameOf(packages, key)} ${packages[key].version} (${packages[key].license ?? 'see its text'})`;
    byText.set(text, [...(byText.get(text) ?? []), title]);
  }
  const line = '-'.repeat(80);
  const parts = [...byText].map(([text, titles]) => `${line}\n${titles.join('\n')}\n\n${text}\n`);
  return `Stowage contains code of these packages. Each stands above its licence.\n\n${parts.join('\n')}`;
}

/** @param parts packages of a lock file, and the keys of those that the program or the guides contain */
function sbomOf({ name, version, license }, parts, seconds) {
  const main = { type: 'application', 'bom-ref': `${name}@${version}`, name, version, ...licenceOf(license) };
  const refs = new Set();
  const components = [];
  const dependencies = [];
  for (const { packages, keys, key } of parts.flatMap((part) => part.keys.map((key) => ({ ...part, key })))) {
    const component = componentOf(packages, key);
    // One version may lie in several folders.
    if (refs.has(component['bom-ref'])) continue;
    refs.add(component['bom-ref']);
    components.push(component);
    const needed = neededBy(packages, key).filter((next) => keys.includes(next));
    dependencies.push({
      ref: component.purl,
      dependsOn: [...new Set(needed.map((next) => purlOf(packages, next)))].sort(),
    });
  }
  const content = {
    version: 1,
    metadata: {
      ...(seconds === undefined ? {} : { timestamp: new Date(seconds * 1_000).toISOString() }),
      component: main,
    },
    components,
    dependencies,
  };
  return { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: serialOf(content), ...content };
}

function componentOf(packages, key) {
  const { version, license, integrity, optional } = packages[key];
  const [, group, name] = /^(?:(@[^/]+)\/)?(.+)$/.exec(nameOf(packages, key));
  const purl = purlOf(packages, key);
  const hashes = /^sha512-(.+)$/.exec(integrity ?? '');
  return {
    type: 'library',
    'bom-ref': purl,
    ...(group === undefined ? {} : { group }),
    name,
    version,
    scope: optional === true ? 'optional' : 'required',
    ...(hashes === null
      ? {}
      : { hashes: [{ alg: 'SHA-512', content: Buffer.from(hashes[1], 'base64').toString('hex') }] }),
    ...licenceOf(license),
    purl,
  };
}

function purlOf(packages, key) {
  return `pkg:npm/${nameOf(packages, key).replace('@', '%40')}@${packages[key].version}`;
}

function licenceOf(expression) {
  return expression === undefined ? {} : { licenses: [{ expression }] };
}

/** Returns a UUID of version 8 (RFC 9562, section 5.8) that is a digest of the content. */
function serialOf(content) {
  const bytes = createHash('sha256').update(JSON.stringify(content)).digest().subarray(0, 16);
  bytes[6] = (bytes[6] & 0x0f) | 0x80;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const parts = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/.exec(bytes.toString('hex'));
  return `urn:uuid:${parts.slice(1).join('-')}`;
}
