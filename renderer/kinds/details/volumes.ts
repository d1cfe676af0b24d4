import { t } from '../../locales/i18n.ts';
import { at, fieldsOf, listAt, textAt, type KubeObject } from '../kube-object.ts';
import { coreLink, linked, plain, type Cell, type ObjectLink } from './section.ts';

/** Volume sources that name an object, and where the name stands. */
const NAMED: Readonly<Record<string, { readonly kind: string; readonly field: string }>> = {
  configMap: { kind: 'ConfigMap', field: 'name' },
  secret: { kind: 'Secret', field: 'secretName' },
  persistentVolumeClaim: { kind: 'PersistentVolumeClaim', field: 'claimName' },
};

/** What stands behind a volume of a pod. */
export const volumeSource = (volume: KubeObject | undefined, namespace: string): Cell => {
  const [type, value] = Object.entries(volume ?? {}).find(([key]) => key !== 'name') ?? [];
  if (type === undefined) return plain(t('sec.volume.unknown'));
  const named = NAMED[type];
  if (named) {
    const name = textAt(value, named.field);
    return linked(coreLink(named.kind, name, namespace), `${named.kind} ${name}`);
  }
  if (type === 'hostPath') return { text: `hostPath ${textAt(value, 'path')}`, isMono: true };
  if (type === 'projected')
    return plain(
      `projected: ${listAt(value, 'sources')
        .map((source) => Object.keys(source)[0] ?? '')
        .join(', ')}`,
    );
  if (type === 'emptyDir')
    return plain([`emptyDir`, textAt(value, 'medium'), textAt(value, 'sizeLimit')].filter(Boolean).join(' '));
  if (type === 'csi') return plain(`csi ${textAt(value, 'driver')}`);
  return plain(type);
};

/** The fields of a PersistentVolumeSource: its type and what it points to. */
export const volumeType = (
  spec: unknown,
): { readonly type: string; readonly pairs: readonly (readonly [string, string])[] } | undefined => {
  const known = [
    'csi',
    'hostPath',
    'local',
    'nfs',
    'iscsi',
    'fc',
    'awsElasticBlockStore',
    'gcePersistentDisk',
    'azureDisk',
    'azureFile',
    'cephfs',
    'rbd',
  ];
  const type = known.find((name) => at(spec, name) !== undefined);
  if (type === undefined) return undefined;
  const pairs = Object.entries(fieldsOf(at(spec, type))).flatMap(([key, value]) =>
    ['string', 'number', 'boolean'].includes(typeof value) ? [[key, String(value)] as const] : [],
  );
  return { type, pairs };
};

export const claimLink = (ref: unknown): ObjectLink =>
  coreLink('PersistentVolumeClaim', textAt(ref, 'name'), textAt(ref, 'namespace'));
