import { SaxesParser } from 'saxes';
import { type Pace, processPace } from '../../../../kit/read-in-turns.js';

/** An element of a document, without its prefix. It has text or children, never both. */
export interface XmlElement {
  readonly name: string;
  /** The URI of its name space; `''` without one. */
  readonly namespace: string;
  /** With the white space around it, which may belong to a key; `''` where the element has children. */
  readonly text: string;
  readonly children: readonly XmlElement[];
  /** Whether it has attributes besides the declarations of name spaces. */
  readonly hasAttributes: boolean;
}

/**
 * `cut`: the document ends before its root element. `refused`: it is no XML 1.0 in UTF-8, has a DTD, mixes text with
 * elements, or exceeds the bounds. `name`: that of the root element, as far as it was read.
 */
type XmlReading =
  | { readonly is: 'read'; readonly name: string; readonly root: XmlElement }
  | { readonly is: 'cut' | 'refused'; readonly name: string | null; readonly root: null };

/** Elements and attributes: 1,000 listed objects have 16,000 at Amazon, with owners and checksums. */
const elementsMax = 40_000;
/** The replies of S3, OSS and COS are four deep. */
const depthMax = 16;
/** Bytes that are read at once. They contain fewer elements than a turn of the process may read. */
const pieceBytes = 1_000;

class Refused extends Error {
  override readonly name = 'Refused';
}

/** Reads a document of a server that may be hostile. The outgoing client bounds its bytes, and the work is linear in them. */
export async function readXml(bytes: Buffer, pace: Pace = processPace): Promise<XmlReading> {
  const { parser, tree } = makeTree();
  const decode = makeDecode();
  const failed = (is: 'cut' | 'refused'): XmlReading => ({
    is,
    name: tree.open[0]?.name ?? null,
    root: null,
  });
  try {
    // Some servers write blanks before the declaration, to keep the connection while they work.
    for (let from = firstByte(bytes); from < bytes.length; from += pieceBytes) {
      const piece = bytes.subarray(from, from + pieceBytes);
      await pace.spend({ bytes: piece.length, elements: marksIn(piece) });
      parser.write(decode(piece));
    }
    if (tree.root === null) return failed('cut');
    parser.close();
    return { is: 'read', name: tree.root.name, root: tree.root };
  } catch (error) {
    if (error instanceof Refused) return failed('refused');
    throw error;
  }
}

/** Makes a decoder of pieces, which may divide a character. */
function makeDecode(): (piece: Buffer) => string {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  return (piece) => {
    try {
      return decoder.decode(piece, { stream: true });
    } catch (error) {
      if (error instanceof TypeError) refuse();
      throw error;
    }
  };
}

interface OpenElement {
  readonly name: string;
  readonly namespace: string;
  text: string;
  readonly children: XmlElement[];
  readonly hasAttributes: boolean;
}

/** Makes a parser, and the tree that it fills. */
function makeTree() {
  const tree: { root: XmlElement | null; readonly open: OpenElement[] } = { root: null, open: [] };
  const parser = new SaxesParser({ xmlns: true, position: false });
  let elements = 0;
  const count = (): void => {
    elements += 1;
    if (elements > elementsMax) refuse();
  };
  const addText = (text: string): void => {
    const element = tree.open.at(-1);
    if (element !== undefined) element.text += text;
  };
  parser.on('error', refuse);
  parser.on('doctype', refuse);
  parser.on('xmldecl', ({ encoding = 'utf-8' }) => {
    if (!/^(?:utf-?8|us-ascii)$/i.test(encoding)) refuse();
  });
  parser.on('attribute', count);
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('opentag', ({ local, uri, attributes }) => {
    count();
    if (tree.open.length === depthMax) refuse();
    const hasAttributes = Object.values(attributes).some(
      ({ name, prefix }) => name !== 'xmlns' && prefix !== 'xmlns',
    );
    tree.open.push({ name: local, namespace: uri, text: '', children: [], hasAttributes });
  });
  parser.on('closetag', () => {
    const open = tree.open.pop();
    if (open === undefined) return;
    const hasChildren = open.children.length > 0;
    if (hasChildren && open.text.trim() !== '') refuse();
    const element = hasChildren ? { ...open, text: '' } : open;
    const parent = tree.open.at(-1);
    if (parent === undefined) tree.root = element;
    else parent.children.push(element);
  });
  return { parser, tree };
}

function refuse(): never {
  throw new Refused();
}

const blanks: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

function firstByte(bytes: Buffer): number {
  const at = bytes.findIndex((byte) => !blanks.has(byte));
  return at < 0 ? bytes.length : at;
}

/** Counts the bytes that may begin an element, an attribute or an entity. */
function marksIn(piece: Buffer): number {
  let marks = 0;
  for (const byte of piece) if (byte === 0x3c || byte === 0x3d || byte === 0x26) marks += 1;
  return marks;
}

/** Returns the root element of a whole document with this root; null for any other. */
export async function readDocument(bytes: Buffer, name: string): Promise<XmlElement | null> {
  const { root } = await readXml(bytes);
  return root?.name === name ? root : null;
}

/** Returns the children with the name, in turns: a hostile list has thousands, or a long text in one of them. */
export async function* childrenInTurns({ children }: XmlElement, name: string) {
  for (const child of children) {
    if (child.name !== name) continue;
    const bytes = child.children.reduce((sum, { text }) => sum + text.length, 0);
    await processPace.spend({ bytes, elements: child.children.length });
    yield child;
  }
}

/** Returns the text of the only child with the name; null without one, and where there are several. */
export function textOf({ children }: XmlElement, name: string): string | null {
  const [child, second] = children.filter((one) => one.name === name);
  return child === undefined || second !== undefined ? null : child.text;
}

export function numberOf(element: XmlElement, name: string): number | null {
  const text = textOf(element, name)?.trim() ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Returns whether the only child with the name says `true`; null where it says neither that nor `false`. */
export function flagOf(element: XmlElement, name: string): boolean | null {
  const text = textOf(element, name)?.trim().toLowerCase();
  return text === 'true' || text === 'false' ? text === 'true' : null;
}
