import test from 'ava';

import { missingCopies } from '../../src/composition/tasks/audit.js';
import { parseWitnesses } from '../../src/areas/audit/signing/witnesses.js';
import { givenWitness } from '../support/audit/audit-export.js';

const dataDirectory = '/var/lib/stowage';
const none = { dataDirectory, auditCheckpointDirectory: undefined, auditWitnesses: [] };

test('A start names the missing settings when no checkpoint leaves the service', (t) => {
  for (const auditCheckpointDirectory of [
    undefined,
    dataDirectory,
    `${dataDirectory}/kept`,
    `${dataDirectory}/..kept`,
  ]) {
    const sentence = missingCopies({ ...none, auditCheckpointDirectory }) ?? '';
    t.regex(sentence, /AUDIT_CHECKPOINT_DIR .* AUDIT_WITNESSES/);
    t.regex(sentence, /\/var\/lib\/stowage leaves no trace$/);
  }
});

test('A start with a folder elsewhere or a witness names nothing', (t) => {
  for (const path of ['/mnt/worm', '/var/lib/stowage-checkpoints', '/var/lib']) {
    t.is(missingCopies({ ...none, auditCheckpointDirectory: path }), null);
  }
  const { vkey } = givenWitness('witness.example/w1', 1);
  const auditWitnesses = parseWitnesses(`${vkey} https://witness.example`);
  t.is(missingCopies({ ...none, auditWitnesses }), null);
});
