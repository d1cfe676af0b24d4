import type { Route, Routes } from '../provider/provider.ts';

const ROUTES_MAX = 100_000;

/**
 * Every loopback address reaches every other, so there is nothing to set up; what is kept is which ones were asked for.
 * A new leader starts with none and makes them again, which costs nothing.
 */
export const loopbackRoutes = (): Routes => {
  const tables = new Map<string, Map<string, Route>>();
  const tableOf = (clusterName: string): Map<string, Route> => {
    const table = tables.get(clusterName) ?? new Map<string, Route>();
    tables.set(clusterName, table);
    return table;
  };
  return {
    list: (clusterName) => Promise.resolve([...tableOf(clusterName).values()]),
    create(clusterName, route) {
      const table = tableOf(clusterName);
      if (table.size >= ROUTES_MAX) return Promise.reject(new Error(`more than ${ROUTES_MAX} routes`));
      table.set(route.destinationCidr, route);
      return Promise.resolve();
    },
    delete(clusterName, { destinationCidr }) {
      tableOf(clusterName).delete(destinationCidr);
      return Promise.resolve();
    },
  };
};
