import type { Random } from '../../../../src/event-sourcing/clock.js';

/** Seeded choices. */
export interface Dice {
  /** Whole, from 0 up to below. */
  below(bound: number): number;
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** One of the choices, made. */
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
