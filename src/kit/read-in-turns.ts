/** Bytes of outside data that the process reads between two yields. */
export const turnBytesMax = 65_536;
/** Elements (tags, lines, members, entries) that it reads between two yields. */
export const turnElementsMax = 1_000;

/** To decode and fold an event, or to read a document, takes as long as to read so many elements. */
export const elementsOfRecord = 20;

/** The size of a piece of reading. */
export interface Work {
  readonly bytes: number;
  readonly elements: number;
}

/**
 * Bounds what all readers of outside data read between two yields of the process, in total: a customer who sends many
 * hostile replies at once delays only readers, and no other request.
 */
export type Pace = ReturnType<typeof makePace>;

interface Waiting extends Work {
  readonly begin: () => void;
}

/** @param yieldTurn calls back after the process had its turn for other work */
export function makePace(yieldTurn: (next: () => void) => void) {
  const waiting: Waiting[] = [];
  let [bytes, elements] = [0, 0];
  let isYielding = false;
  return {
    /**
     * Waits until the turn has room for the work; readers get room in the order of their calls. Larger work than a turn gets
     * a turn for itself. @returns undefined where there is room now
     */
    spend: (work: Work): Promise<void> | undefined => {
      if (waiting.length === 0 && hasRoom(work)) {
        take(work);
        return undefined;
      }
      return new Promise((begin) => waiting.push({ ...work, begin }));
    },
  };

  function hasRoom(work: Work): boolean {
    const isFirst = bytes === 0 && elements === 0;
    return isFirst || (bytes + work.bytes <= turnBytesMax && elements + work.elements <= turnElementsMax);
  }

  function take(work: Work): void {
    bytes += work.bytes;
    elements += work.elements;
    if (isYielding) return;
    isYielding = true;
    yieldTurn(beginTurn);
  }

  function beginTurn(): void {
    isYielding = false;
    [bytes, elements] = [0, 0];
    for (let next = waiting[0]; next !== undefined && hasRoom(next); next = waiting[0]) {
      waiting.shift();
      take(next);
      next.begin();
    }
  }
}

/** The pace of this process. */
export const processPace: Pace = makePace((next) => setImmediate(next));
