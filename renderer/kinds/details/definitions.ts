import { t } from '../../locales/i18n.ts';
import { at, entriesAt, listAt, textAt, type KubeObject } from '../kube-object.ts';
import { amountText, readAmount, shareOf, shareText } from './amounts.ts';
import { blocks, facts, joined, mono, plain, section, toned, type Cell, type Section } from './section.ts';

const yesNo = (value: unknown): string => (value === true ? t('sec.yes') : t('sec.no'));

const versionState = (version: KubeObject): Cell =>
  version['deprecated'] === true
    ? toned(textAt(version, 'deprecationWarning') || t('sec.crd.deprecated'), 'warn')
    : plain('–');

export const customDefinitionSections = (definition: KubeObject): Section[] => [
  ...section(
    'definition',
    t('sec.crd'),
    blocks({
      form: 'facts',
      facts: facts(
        [t('sec.crd.group'), mono(textAt(definition, 'spec', 'group'))],
        [t('sec.crd.kind'), textAt(definition, 'spec', 'names', 'kind')],
        [t('sec.crd.scope'), textAt(definition, 'spec', 'scope')],
        [t('sec.crd.shortNames'), mono(joined(at(definition, 'spec', 'names', 'shortNames')))],
        [t('sec.crd.categories'), joined(at(definition, 'spec', 'names', 'categories'))],
        [t('sec.crd.conversion'), textAt(definition, 'spec', 'conversion', 'strategy')],
        [t('sec.crd.stored'), mono(joined(at(definition, 'status', 'storedVersions')))],
      ),
    }),
  ),
  ...section(
    'versions',
    t('sec.crd.versions'),
    blocks({
      form: 'table',
      head: [
        t('sec.crd.version'),
        t('sec.crd.served'),
        t('sec.crd.storage'),
        t('sec.crd.subresources'),
        t('sec.crd.deprecation'),
      ],
      rows: listAt(definition, 'spec', 'versions').map((version) => [
        mono(textAt(version, 'name')),
        plain(yesNo(version['served'])),
        plain(yesNo(version['storage'])),
        plain(Object.keys(Object(version['subresources'])).join(', ') || '–'),
        versionState(version),
      ]),
    }),
  ),
];

export const quotaSections = (quota: KubeObject): Section[] =>
  section(
    'quota',
    t('sec.quota'),
    blocks({
      form: 'table',
      head: [t('sec.resource'), t('sec.quota.used'), t('sec.quota.hard')],
      rows: entriesAt(quota, 'status', 'hard').map(([name, hard]) => {
        const used = at(quota, 'status', 'used', name);
        const [part, whole] = [readAmount(used)?.toNumber() ?? 0, readAmount(hard)?.toNumber() ?? 0];
        const resource = name.replace(/^(requests|limits)\./, '');
        return [
          mono(name),
          {
            text: [amountText(resource, used) || '0', shareText(part, whole)].filter(Boolean).join(', '),
            isMono: true,
            share: shareOf(part, whole),
            ...(part >= whole && whole > 0 && { tone: 'warn' as const }),
          },
          mono(amountText(resource, hard)),
        ];
      }),
    }),
  );
