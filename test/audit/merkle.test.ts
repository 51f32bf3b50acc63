import { createHash } from 'node:crypto';

import test from 'ava';
import fc from 'fast-check';

import {
  consistencyParts,
  foldNodes,
  type Hash,
  inclusionParts,
  leafHash,
  nodeHash,
  rootFromInclusion,
  rootNodes,
  rootOf,
  type TreeNode,
} from '../../src/audit/merkle.js';

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

/** RFC 9162, section 2.1.4.2, in the words of the RFC. */
function isConsistent(
  first: number,
  second: number,
  roots: readonly [Hash, Hash],
  path: readonly Hash[],
): boolean {
  const given = Number.isInteger(Math.log2(first)) ? [roots[0], ...path] : [...path];
  let [fn, sn] = [first - 1, second - 1];
  while (fn % 2 === 1) [fn, sn] = [(fn - 1) / 2, Math.floor(sn / 2)];
  const [start, ...rest] = given;
  if (start === undefined) return false;
  let [fr, sr] = [start, start];
  for (const hash of rest) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      [fr, sr] = [nodeHash(hash, fr), nodeHash(hash, sr)];
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn / 2, Math.floor(sn / 2)];
    } else {
      sr = nodeHash(sr, hash);
    }
    [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
  }
  return sn === 0 && fr.equals(roots[0]) && sr.equals(roots[1]);
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
      const both = [rootAt(first), rootAt(second)] as const;
      const proof = proofOf(consistencyParts(first, second));
      if (first === second) return proof.length === 0;
      const forged: readonly [Hash, Hash] = [rootOf([]), both[1]];
      return isConsistent(first, second, both, proof) && !isConsistent(first, second, forged, proof);
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
