import { goQuote } from '../../field/go-text.ts';
import { has, maybeObj, obj, objs, str, type Obj } from '../read.ts';

/** A path in a volume, and where it came from. */
interface Target {
  readonly path: string;
  readonly source: string;
}

const textOf = ({ path, source }: Target): string =>
  source === '' ? goQuote(path) : `${goQuote(path)} (${source})`;

const within = (outer: string, inner: string): boolean => `${inner}/`.startsWith(`${outer}/`);

/** `"b" with "a"` for each pair of which one would overwrite or contain the other. */
const overlaps = (targets: readonly Target[]): string[] => {
  const before: Target[] = [];
  return targets.flatMap((one) => {
    const target = { ...one, path: one.path.replace(/\/+$/, '') };
    const found = before.filter(
      ({ path }) =>
        target.path !== '' && path !== '' && (within(target.path, path) || within(path, target.path)),
    );
    before.push(target);
    return found.map((other) => `${textOf(target)} with ${textOf(other)}`);
  });
};

const itemsOf = (of: Obj, source: string): Target[] =>
  objs(of, 'items').map((item) => ({ path: str(item, 'path'), source }));

const pathsOf = (of: Obj, names: readonly (readonly [field: string, source: string])[]): Target[] =>
  names
    .filter(([field]) => str(of, field) !== '')
    .map(([field, source]) => ({ path: str(of, field), source }));

const projectedTargets = (source: Obj): Target[] => {
  const named = (kind: string, name: string): string => `${kind} ${goQuote(name)}`;
  const configMap = maybeObj(source, 'configMap');
  if (configMap && has(configMap, 'items'))
    return itemsOf(configMap, named('ConfigMap', str(configMap, 'name')));
  const secret = maybeObj(source, 'secret');
  if (secret && has(secret, 'items')) return itemsOf(secret, named('Secret', str(secret, 'name')));
  const downward = maybeObj(source, 'downwardAPI');
  if (downward && has(downward, 'items')) return itemsOf(downward, 'DownwardAPI');
  const token = maybeObj(source, 'serviceAccountToken');
  if (token) return [{ path: str(token, 'path'), source: 'ServiceAccountToken' }];
  const bundle = maybeObj(source, 'clusterTrustBundle');
  if (bundle) {
    const name = has(bundle, 'name') ? str(bundle, 'name') : str(bundle, 'signerName');
    return [{ path: str(bundle, 'path'), source: named('ClusterTrustBundle', name) }];
  }
  return pathsOf(obj(source, 'podCertificate'), [
    ['certificateChainPath', 'PodCertificate chain'],
    ['keyPath', 'PodCertificate key'],
    ['credentialBundlePath', 'PodCertificate credential bundle'],
  ]);
};

const projectedOverlaps = (name: string, projected: Obj): string[] => {
  const sources = objs(projected, 'sources');
  const isEmpty = (source: Obj): boolean => Object.keys(source).length === 0;
  return [
    ...sources.filter(isEmpty).map(() => `volume ${name} (Projected) has no sources provided`),
    ...overlaps(sources.flatMap(projectedTargets)).map(
      (pair) => `volume ${name} (Projected): overlapping paths: ${pair}`,
    ),
  ];
};

/** Files of a volume that hide each other. */
export const volumePathWarnings = (volumes: readonly Obj[]): string[] =>
  volumes.flatMap((volume) => {
    const name = goQuote(str(volume, 'name'));
    const ofItems = (field: string, described: (of: Obj) => string): string[] => {
      const source = maybeObj(volume, field);
      return source
        ? overlaps(itemsOf(source, '')).map(
            (pair) => `volume ${name} (${described(source)}): overlapping paths: ${pair}`,
          )
        : [];
    };
    const projected = maybeObj(volume, 'projected');
    return [
      ...ofItems('configMap', (of) => `ConfigMap ${goQuote(str(of, 'name'))}`),
      ...ofItems('secret', (of) => `Secret ${goQuote(str(of, 'secretName'))}`),
      ...ofItems('downwardAPI', () => 'DownwardAPI'),
      ...(projected ? projectedOverlaps(name, projected) : []),
    ];
  });
