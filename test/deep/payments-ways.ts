/** How often one scene is told in a history, each time in another order and with other mishaps. */
export const waysOfHistory = 4;
