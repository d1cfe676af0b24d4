import { shell } from '../base/shell-words.ts';
import { quantityFrom } from '../api/quantity/index.ts';
import type {
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1StorageClass,
} from '../api/schema/index.ts';
import { storageClassOf } from '../api/quota/index.ts';
import { say, type GraphReason } from '../contract/index.ts';
import { idOf, metaOf, reasonOf, type GraphBuilder } from './graph-builder.ts';
import { isUnplaced } from './scheduling.ts';

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';
const NO_PROVISIONER = 'kubernetes.io/no-provisioner';

const isDefault = ({ metadata }: V1StorageClass): boolean =>
  metadata?.annotations?.[DEFAULT_CLASS] === 'true';

/** A volume that static binding would take. */
const fits = (claim: V1PersistentVolumeClaim, volume: V1PersistentVolume, className: string): boolean => {
  const wanted = quantityFrom(claim.spec?.resources?.requests?.['storage']);
  return (
    volume.status?.phase === 'Available' &&
    (volume.spec?.storageClassName ?? '') === className &&
    quantityFrom(volume.spec?.capacity?.['storage']).compare(wanted) >= 0 &&
    (claim.spec?.accessModes ?? []).every((mode) => (volume.spec?.accessModes ?? []).includes(mode))
  );
};

const explainPending = (b: GraphBuilder, claim: V1PersistentVolumeClaim): GraphReason | undefined => {
  const { namespace, name } = metaOf(claim);
  const className = storageClassOf(claim);
  const describe = shell`kubectl -n ${namespace} describe pvc ${name}`;
  if (b.input.unread.has('StorageClass')) return undefined;
  const classes = b.all<V1StorageClass>('StorageClass');
  const requested = quantityFrom(claim.spec?.resources?.requests?.['storage']).canonical();
  const noVolume = (): GraphReason =>
    reasonOf(
      'error',
      say('graph.claimWaitsForVolume', { requested, class: className }),
      say('graph.fix.claimWaitsForVolume'),
      describe,
    );
  if (className === '') {
    if (claim.spec?.storageClassName === undefined && !classes.some(isDefault))
      return reasonOf(
        'error',
        say('graph.claimWithoutClass'),
        say('graph.fix.claimWithoutClass'),
        classes[0]
          ? shell`kubectl annotate storageclass ${metaOf(classes[0]).name} ${DEFAULT_CLASS}=true`
          : 'kubectl get storageclasses',
      );
    if (b.input.unread.has('PersistentVolume')) return undefined;
    return b.all<V1PersistentVolume>('PersistentVolume').some((volume) => fits(claim, volume, ''))
      ? undefined
      : noVolume();
  }
  const found = b.get<V1StorageClass>('StorageClass', '', className);
  // The reference to a class that does not exist carries its own reason.
  if (!found) return undefined;
  const users = b
    .all<V1Pod>('Pod')
    .filter(
      (pod) =>
        metaOf(pod).namespace === namespace &&
        (pod.spec?.volumes ?? []).some(
          ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name,
        ),
    );
  const waiting = users.find(isUnplaced);
  if (found.volumeBindingMode === 'WaitForFirstConsumer' && !users.some((pod) => !isUnplaced(pod)))
    return waiting
      ? reasonOf(
          'warning',
          say('graph.claimWaitsForPod', { pod: metaOf(waiting).name, class: className }),
          say('graph.fix.claimWaitsForPod'),
          shell`kubectl -n ${namespace} describe pod ${metaOf(waiting).name}`,
        )
      : reasonOf(
          'warning',
          say('graph.claimWaitsForConsumer', { class: className }),
          say('graph.fix.claimWaitsForConsumer'),
        );
  if (found.provisioner === NO_PROVISIONER)
    return b.input.unread.has('PersistentVolume') ||
      b.all<V1PersistentVolume>('PersistentVolume').some((volume) => fits(claim, volume, className))
      ? undefined
      : noVolume();
  return reasonOf(
    'error',
    say('graph.claimWaitsForProvisioner', { provisioner: found.provisioner ?? '', class: className }),
    say('graph.fix.claimWaitsForProvisioner'),
    describe,
  );
};

/** Claims, their volumes and their classes. */
export const addStorage = (b: GraphBuilder): void => {
  for (const claim of b.all<V1PersistentVolumeClaim>('PersistentVolumeClaim')) {
    const { namespace, name } = metaOf(claim);
    const id = idOf('PersistentVolumeClaim', namespace, name);
    const phase = claim.status?.phase ?? 'Pending';
    b.figures(id, phase);
    const volume = claim.spec?.volumeName ?? '';
    const className = storageClassOf(claim);
    if (phase === 'Lost')
      b.explain(id, reasonOf('error', say('graph.claimLost', { volume }), say('graph.fix.claimLost')));
    else if (volume !== '') b.refer(id, { kind: 'PersistentVolume', namespace: '', name: volume }, 'binds');
    if (phase !== 'Pending') {
      if (b.get('StorageClass', '', className)) b.edge(id, idOf('StorageClass', '', className), 'provisions');
      continue;
    }
    const reason = explainPending(b, claim);
    if (className === '') {
      if (reason) b.explain(id, reason);
      continue;
    }
    b.refer(id, { kind: 'StorageClass', namespace: '', name: className }, 'provisions', {
      command: 'kubectl get storageclasses',
    });
    if (reason && b.get('StorageClass', '', className))
      b.edge(id, idOf('StorageClass', '', className), 'provisions', [reason]);
    b.waits(id);
  }
  for (const volume of b.all<V1PersistentVolume>('PersistentVolume'))
    b.figures(
      idOf('PersistentVolume', '', metaOf(volume).name),
      [String(volume.spec?.capacity?.['storage'] ?? ''), volume.status?.phase ?? '']
        .filter(Boolean)
        .join(' '),
    );
};
