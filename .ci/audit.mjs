// Reads a report of `npm audit --json` and fails for a fault of high or critical severity in a package of the program, which sbom.cdx.json
// lists: a bundled package is a development dependency, as the tools are. Status 75: the registry did not answer.
import { readFileSync } from 'node:fs';

const read = (file) => JSON.parse(readFileSync(file, 'utf8') || '{}');
const { auditReportVersion, vulnerabilities } = read(process.argv[2]);
const shipped = new Set(
  read('sbom.cdx.json').components.map(({ group, name }) =>
    group === undefined ? name : `${group}/${name}`,
  ),
);

if (auditReportVersion === undefined) process.exit(75);
for (const { name, severity, range } of Object.values(vulnerabilities)) {
  if (!shipped.has(name) || !['high', 'critical'].includes(severity)) continue;
  console.error(`${name} ${range}: ${severity}`);
  process.exitCode = 1;
}
