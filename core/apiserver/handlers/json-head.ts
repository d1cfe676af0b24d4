/** What every JSON answer of a kind begins with: `kind` and `apiVersion` stand first, so a list can cut them off. */
export const headOf = (kind: string, apiVersion: string): string =>
  `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
