import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { packageFile } from './package-files.js';

const manifest = z.object({ version: z.string() });

/** The version of the package. */
export const version = manifest.parse(JSON.parse(readFileSync(packageFile('package.json'), 'utf8'))).version;
