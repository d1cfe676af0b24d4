import { readFile } from 'node:fs/promises';
import { certificatePath } from '../../../pki/index.ts';
import { PORTS } from '../../manifests/control-plane.ts';
import { say, together } from '../../../contract/index.ts';
import { bad, ok, warn, type CheckItem } from '../item.ts';
import { statusFor } from '../network-probes.ts';

/** What an anonymous request must not get: content, the shape of the API, figures. */
const CLOSED_PATHS = [
  '/api',
  '/apis',
  '/api/v1/namespaces',
  '/api/v1/secrets',
  '/api/v1/nodes',
  '/openapi/v2',
  '/openapi/v3',
  '/metrics',
  '/logs',
  '/debug/pprof/',
];
/** Upstream's default policy gives it to everybody; it tells an attacker which release to look up. */
const VERSION_PATH = '/version';

/** Paths of a server that are answered to somebody without credentials. */
export const openPaths = async (origin: string, authorityPem: string): Promise<readonly string[]> => {
  const open: string[] = [];
  for (const path of [...CLOSED_PATHS, VERSION_PATH])
    if ((await statusFor(`${origin}${path}`, { ca: authorityPem })) < 400) open.push(path);
  return open;
};

export const anonymousPaths: CheckItem = {
  id: 'anonymousPaths',
  async measure(look) {
    const authority = await readFile(certificatePath(look.dataDirectory, 'ca'), 'utf8');
    const found = await Promise.all(
      look.controlPlanes.map(async ({ name, address }) => ({
        name,
        paths: await openPaths(`https://${address}:${PORTS.apiServer}`, authority),
      })),
    );
    const open = found.filter(({ paths }) => paths.some((path) => path !== VERSION_PATH));
    if (open.length > 0)
      return bad(
        together(
          open.map(({ name, paths }) =>
            say('found.anonymousPaths.open', { host: name, paths: paths.join(', ') }),
          ),
        ),
        say('advice.anonymousPaths.open'),
      );
    if (found.some(({ paths }) => paths.length > 0))
      return warn(say('found.anonymousPaths.version'), say('advice.anonymousPaths.version'));
    return ok(say('found.anonymousPaths.ok', { count: CLOSED_PATHS.length + 1 }));
  },
};
