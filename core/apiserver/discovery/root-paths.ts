import { apiPathOf } from '../../api/meta/index.ts';
import type { DiscoveryCatalog } from './catalog.ts';

const OPENAPI_PATHS = ['/openapi/v2', '/openapi/v3', '/openapi/v3/'];

/** The index at `/`: every path that is served, sorted, in upstream's indented form. */
export const rootPaths = (catalog: DiscoveryCatalog, otherPaths: readonly string[]): string => {
  const paths = new Set(['/api', '/apis', '/apis/', ...OPENAPI_PATHS, ...otherPaths]);
  for (const { group, versions } of catalog.groups()) {
    if (group !== '') paths.add(`/apis/${group}`);
    for (const published of versions) paths.add(apiPathOf(published));
  }
  return JSON.stringify({ paths: [...paths].sort() }, null, 2);
};
