import { createHash } from 'node:crypto';

import test from 'ava';
import fc from 'fast-check';

import {
  consistencyParts,
  foldNodes,
  type Hash,
  inclusionParts,
  leafHash,
  rootNodes,
  rootOf,
  type TreeNode,
} from '../../../../src/areas/audit/tree/merkle.js';
import { isConsistent } from '../../../support/audit/consistency.js';
import { rootFromInclusion } from '../../../support/audit/inclusion.js';

const leaves: readonly Hash[] = Array.from({ length: 300 }, (_, index) => leafHash(`entry ${index}`));

const nodes = new Map<string, Hash>();

function hashOf({ level, index }: TreeNode): Hash {
  const key = `${level}/${index}`;
  const known = nodes.get(key) ?? rootOf(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level));
  nodes.set(key, known);
  return known;
}

const roots = Array.from({ length: leaves.length + 1 }, (_, size) => rootOf(leaves.slice(0, size)));

function rootAt(size: number): Hash {
  return roots[size] ?? rootOf([]);
}

function proofOf(parts: readonly (readonly TreeNode[])[]): readonly Hash[] {
  return parts.map((part) => foldNodes(part.map(hashOf)));
}

test('The root of no leaf is the hash of nothing, and that of one leaf is its hash', (t) => {
  t.deepEqual(rootOf([]), createHash('sha256').digest());
  t.deepEqual(foldNodes([]), rootOf([]));
  t.deepEqual(rootOf(leaves.slice(0, 1)), leaves[0]);
});

test('The fold of the complete subtrees is the root, at every size', (t) => {
  for (let size = 1; size <= leaves.length; size += 1) {
    t.true(foldNodes(rootNodes(size).map(hashOf)).equals(rootAt(size)), String(size));
  }
});

test('An inclusion proof leads from each leaf to the root, and from no other index or leaf', (t) => {
  const place = fc
    .integer({ min: 1, max: leaves.length })
    .chain((size) => fc.tuple(fc.constant(size), fc.nat({ max: size - 1 }), fc.nat({ max: size - 1 })));
  fc.assert(
    fc.property(place, ([size, index, other]) => {
      const root = rootAt(size);
      const proof = proofOf(inclusionParts(index, size));
      const from = (at: number, leaf: number) =>
        rootFromInclusion(leaves[leaf] ?? root, { index: at, size, proof })?.equals(root) ?? false;
      return from(index, index) && (other === index || (!from(other, index) && !from(index, other)));
    }),
    { seed: 3, numRuns: 1_000 },
  );
  t.is(rootFromInclusion(rootOf([]), { index: 0, size: 1, proof: [rootOf([])] }), null);
});

test('A consistency proof holds between any two sizes, as RFC 9162 verifies it', (t) => {
  const sizes = fc.tuple(
    fc.integer({ min: 1, max: leaves.length }),
    fc.integer({ min: 1, max: leaves.length }),
  );
  fc.assert(
    fc.property(sizes, ([one, two]) => {
      const [first, second] = one < two ? [one, two] : [two, one];
      const proof = proofOf(consistencyParts(first, second));
      if (first === second) return proof.length === 0;
      const old = { size: first, root: rootAt(first) };
      const next = { size: second, root: rootAt(second) };
      return isConsistent(old, next, proof) && !isConsistent({ ...old, root: rootOf([]) }, next, proof);
    }),
    { seed: 4, numRuns: 1_000 },
  );
  t.pass();
});

test('A proof of a tree with more than 2^31 leaves names the right nodes', (t) => {
  const size = 2 ** 40 + 1;
  const parts = inclusionParts(2 ** 40, size);
  t.deepEqual(parts, [[{ level: 40, index: 0 }]]);
  t.deepEqual(rootNodes(size), [
    { level: 40, index: 0 },
    { level: 0, index: 2 ** 40 },
  ]);
});

test('The hashes of a proof in a log of a million events take at most 900 bytes', (t) => {
  const base64LineBytes = 45;
  for (const index of [0, 524_288, 999_423, 999_999]) {
    t.true(inclusionParts(index, 1_000_000).length * base64LineBytes <= 900, String(index));
  }
  t.is(inclusionParts(0, 1_000_000).length, 20);
});
