import { crc32 } from 'node:zlib';

/** Returns the CRC-32 (ISO 3309) of all fields of a state record. */
export function stateChecksum(record: {
  readonly key: string;
  readonly value: string;
  readonly version: bigint;
  readonly expiresAtMs: number | null;
}): number {
  return crc32(`${record.version}/${record.expiresAtMs ?? 'never'}/${record.key}/${record.value}`);
}
