/** The number of runs of one scene in a history. Each run has another order and other faults. */
export const waysOfHistory = 4;
