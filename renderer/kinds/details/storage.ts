import { t } from '../../locales/i18n.ts';
import { at, entriesAt, listAt, textAt, type KubeObject } from '../kube-object.ts';
import { amountText } from './amounts.ts';
import {
  blocks,
  coreLink,
  facts,
  joined,
  linked,
  mono,
  pairsText,
  plain,
  section,
  toned,
  type Cell,
  type Section,
} from './section.ts';
import { claimLink, volumeType } from './volumes.ts';

const classCell = (object: KubeObject): Cell | undefined => {
  const name = textAt(object, 'spec', 'storageClassName');
  return name === ''
    ? undefined
    : linked({ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', namespace: '', name });
};

const phaseCell = (object: KubeObject): Cell => {
  const phase = textAt(object, 'status', 'phase');
  const tone = phase === 'Bound' || phase === 'Available' ? 'ok' : phase === 'Pending' ? 'pending' : 'warn';
  return toned(phase, tone);
};

export const claimSections = (claim: KubeObject): Section[] => {
  const volume = textAt(claim, 'spec', 'volumeName');
  return section(
    'claim',
    t('sec.claim'),
    blocks({
      form: 'facts',
      facts: facts(
        [t('sec.phase'), phaseCell(claim)],
        [
          t('sec.volume'),
          volume === '' ? t('sec.volume.none') : linked(coreLink('PersistentVolume', volume)),
        ],
        [t('sec.storageClass'), classCell(claim)],
        [
          t('sec.requested'),
          mono(amountText('storage', at(claim, 'spec', 'resources', 'requests', 'storage'))),
        ],
        [t('sec.capacity.total'), mono(amountText('storage', at(claim, 'status', 'capacity', 'storage')))],
        [t('sec.accessModes'), joined(at(claim, 'spec', 'accessModes'))],
        [t('sec.volumeMode'), textAt(claim, 'spec', 'volumeMode')],
        [t('sec.dataSource'), textAt(claim, 'spec', 'dataSource', 'name')],
      ),
    }),
  );
};

export const volumeSections = (volume: KubeObject): Section[] => {
  const claim = at(volume, 'spec', 'claimRef');
  const source = volumeType(at(volume, 'spec'));
  const terms = listAt(volume, 'spec', 'nodeAffinity', 'required', 'nodeSelectorTerms').flatMap((term) =>
    listAt(term, 'matchExpressions').map(
      (each) => `${textAt(each, 'key')} ${textAt(each, 'operator')} ${joined(each['values'])}`,
    ),
  );
  return section(
    'volume',
    t('sec.volume'),
    blocks(
      {
        form: 'facts',
        facts: facts(
          [t('sec.phase'), phaseCell(volume)],
          [t('sec.capacity.total'), mono(amountText('storage', at(volume, 'spec', 'capacity', 'storage')))],
          [
            t('sec.claim'),
            claim === undefined
              ? t('sec.claim.none')
              : linked(claimLink(claim), `${textAt(claim, 'namespace')}/${textAt(claim, 'name')}`),
          ],
          [t('sec.storageClass'), classCell(volume)],
          [t('sec.reclaimPolicy'), textAt(volume, 'spec', 'persistentVolumeReclaimPolicy')],
          [t('sec.accessModes'), joined(at(volume, 'spec', 'accessModes'))],
          [t('sec.volumeMode'), textAt(volume, 'spec', 'volumeMode')],
          [t('sec.nodeAffinity'), mono(terms.join('; '))],
          [t('sec.message'), textAt(volume, 'status', 'message')],
        ),
      },
      source && {
        form: 'facts',
        title: t('sec.volume.source', { type: source.type }),
        facts: source.pairs.map(([key, value]) => ({ label: key, value: mono(value) })),
      },
    ),
  );
};

export const storageClassSections = (storage: KubeObject): Section[] => {
  const isDefault =
    textAt(storage, 'metadata', 'annotations', 'storageclass.kubernetes.io/is-default-class') === 'true';
  return section(
    'storageclass',
    t('sec.storageClass'),
    blocks({
      form: 'facts',
      facts: facts(
        [t('sec.default'), isDefault ? t('sec.yes') : t('sec.no')],
        [t('sec.provisioner'), mono(textAt(storage, 'provisioner'))],
        [t('sec.reclaimPolicy'), textAt(storage, 'reclaimPolicy')],
        [t('sec.bindingMode'), textAt(storage, 'volumeBindingMode')],
        [t('sec.expansion'), at(storage, 'allowVolumeExpansion') === true ? t('sec.yes') : t('sec.no')],
        [t('sec.parameters'), mono(pairsText(entriesAt(storage, 'parameters')))],
        [
          t('sec.mountOptions'),
          joined(at(storage, 'mountOptions')) ? plain(joined(at(storage, 'mountOptions'))) : undefined,
        ],
      ),
    }),
  );
};
