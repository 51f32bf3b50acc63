import { parseWitnesses, type Witness } from '../../areas/audit/signing/witnesses.js';
import { ConfigProblem, readFile } from '../sources.js';

/** Reads `AUDIT_WITNESSES`: a file with one line `<vkey> <url>` a witness. @throws ConfigProblem */
export function readWitnesses(file: string | undefined): readonly Witness[] {
  if (file === undefined) return [];
  const text = readFile('AUDIT_WITNESSES', file);
  try {
    return parseWitnesses(text);
  } catch (error) {
    throw new ConfigProblem(error instanceof Error ? error.message : 'AUDIT_WITNESSES has another form');
  }
}
