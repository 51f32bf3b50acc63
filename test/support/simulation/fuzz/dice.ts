import type { Random } from '../../../../src/kit/time/clock.js';

/** Seeded choices. */
export interface Dice {
  /** Returns a whole number from 0 up to, but not including, the bound. */
  below(bound: number): number;
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** Calls one of the choices and returns its result. */
  choose<Item>(...choices: readonly (() => Item)[]): Item;
}

export function makeDice(random: Random): Dice {
  const below = (bound: number): number => Math.floor(random() * bound);
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[below(items.length)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  };
  return {
    below,
    between: (least, most) => least + below(most - least + 1),
    chance: (probability) => random() < probability,
    pick,
    choose: (...choices) => pick(choices)(),
  };
}
