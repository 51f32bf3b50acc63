// Finds the places of a TypeScript source that `npm run mutate` may change, and draws some of them. It leaves out types, imports,
// descriptions and numbers: a wait of 250 ms or a limit of 100 is a choice, and a test that repeats it proves nothing.
import { createHash } from 'node:crypto';
import ts from 'typescript';

const { SyntaxKind } = ts;

/** What may stand in place of an operator. `??` is separate: it keeps one of its sides. */
const operators = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '&&': ['||'],
  '||': ['&&'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
};

/** Methods whose arguments are texts for readers of the published document. */
const describing = new Set(['meta', 'describe']);

/**
 * Returns the places of a source: each with its kind, its first character, the one after its last, and the texts that may
 * replace it.
 */
export function placesIn(source) {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
  const places = [];
  const add = (kind, node, ...texts) =>
    places.push({ kind, start: node.getStart(file), end: node.getEnd(), texts });

  visit(file);
  return places;

  function visit(node) {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) addBinary(node);
    else if (ts.isIfStatement(node)) addCondition(node.expression);
    else if (ts.isConditionalExpression(node)) addCondition(node.condition);
    else if (ts.isExpressionStatement(node) && isCall(node.expression)) add('call', node, ';');
    else if (node.kind === SyntaxKind.TrueKeyword) add('boolean', node, 'false');
    else if (node.kind === SyntaxKind.FalseKeyword) add('boolean', node, 'true');
    else if (ts.isArrayLiteralExpression(node)) addElements(node);
    else if (ts.isFunctionLike(node)) addReturn(node);
    const isText =
      ts.isCallExpression(node) &&
      ts.isPropertyAccessExpression(node.expression) &&
      describing.has(node.expression.name.text);
    if (isText) visit(node.expression);
    else ts.forEachChild(node, visit);
  }

  function addBinary({ left, operatorToken, right }) {
    const operator = operatorToken.getText(file);
    // A subtraction of texts is nonsense that any test of the text sees.
    if (operator === '+' && [left, right].some(hasText)) return;
    if (operator === '??') add('??', operatorToken.parent, left.getText(file), right.getText(file));
    else if (operator in operators) add(operator, operatorToken, ...operators[operator]);
  }

  function addCondition(condition) {
    add('condition', condition, 'true', 'false');
  }

  /** A list of names: each text leaves one out. */
  function addElements(array) {
    const elements = array.elements.map((element) => element.getText(file));
    if (elements.length < 2 || !array.elements.every((element) => ts.isStringLiteral(element))) return;
    const without = elements.map((_, left) => `[${elements.filter((_, n) => n !== left).join(', ')}]`);
    add('list', array, ...without);
  }

  /** A function that returns nothing ends before its first statement. */
  function addReturn({ body, type }) {
    if (body === undefined || type === undefined || !ts.isBlock(body) || body.statements.length === 0) return;
    if (!/^(void|Promise<void>)$/.test(type.getText(file))) return;
    const start = body.getStart(file);
    places.push({ kind: 'return', start, end: start + 1, texts: ['{ return;'] });
  }
}

/**
 * Returns the mutants of the sources in the order of the seed, each with its file, kind, start, end and text. A place comes
 * once, with one of its texts. The same seed and sources give the same order.
 * @param sources pairs of a path and a text
 */
export function drawMutants(sources, seed) {
  const mutants = sources.flatMap(([file, source]) =>
    placesIn(source).map(({ texts, ...place }) => {
      const digest = createHash('sha256').update(`${seed} ${file} ${place.kind} ${place.start}`).digest();
      const text = texts[digest.readUInt32BE(0) % texts.length];
      return { file, ...place, text, order: digest.readUIntBE(4, 6) };
    }),
  );
  return mutants.sort((a, b) => a.order - b.order);
}

export function mutate(source, { start, end, text }) {
  return source.slice(0, start) + text + source.slice(end);
}

/** Returns the number of the first line that a mutant changes, and the changed part of the source before and after, on one line. */
export function describeMutant(source, mutant) {
  const from = source.lastIndexOf('\n', mutant.start) + 1;
  const newline = source.indexOf('\n', mutant.end);
  const to = newline < 0 ? source.length : newline;
  const line = source.slice(0, mutant.start).split('\n').length;
  const mutated = mutate(source, mutant);
  const oneLine = (text) => text.replace(/\s+/g, ' ').trim();
  return {
    line,
    before: oneLine(source.slice(from, to)),
    after: oneLine(mutated.slice(from, to + mutated.length - source.length)),
  };
}

function isCall(expression) {
  if (ts.isAwaitExpression(expression) || ts.isVoidExpression(expression))
    return isCall(expression.expression);
  return ts.isCallExpression(expression) && expression.expression.kind !== SyntaxKind.SuperKeyword;
}

function hasText(node) {
  if (ts.isParenthesizedExpression(node)) return hasText(node.expression);
  if (ts.isBinaryExpression(node)) return hasText(node.left) || hasText(node.right);
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}
