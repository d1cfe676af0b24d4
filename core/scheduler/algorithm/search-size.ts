/** Below this many nodes all are looked at, and never fewer are looked for. */
export const FEASIBLE_NODES_MIN = 100;
const PERCENTAGE_MIN = 5;
const PERCENTAGE_START = 50;
/** One percent less for each so many nodes. */
const NODES_PER_PERCENT = 125;

/** How many feasible nodes are enough. A percentage of 0 adapts to the size of the cluster. */
export const feasibleNodesToFind = (nodeCount: number, percentageOfNodesToScore: number): number => {
  if (nodeCount < FEASIBLE_NODES_MIN) return nodeCount;
  const percentage =
    percentageOfNodesToScore ||
    Math.max(PERCENTAGE_MIN, PERCENTAGE_START - Math.floor(nodeCount / NODES_PER_PERCENT));
  return Math.max(FEASIBLE_NODES_MIN, Math.floor((nodeCount * percentage) / 100));
};
