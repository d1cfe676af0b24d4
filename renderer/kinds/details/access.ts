import { t } from '../../locales/i18n.ts';
import { at, entriesAt, listAt, textAt, type KubeObject } from '../kube-object.ts';
import {
  blocks,
  coreLink,
  facts,
  joined,
  linkedKind,
  mono,
  namespaceOf,
  pairsText,
  plain,
  section,
  type Section,
} from './section.ts';

/** The core group has no name; a rule writes it as an empty one. */
const groupsText = (groups: unknown): string =>
  Array.isArray(groups)
    ? groups.map((group) => (group === '' ? t('sec.rule.core') : String(group))).join(', ')
    : '';

const ruleTarget = (rule: KubeObject): string => {
  const urls = joined(rule['nonResourceURLs']);
  if (urls !== '') return urls;
  const names = joined(rule['resourceNames']);
  const resources = joined(rule['resources']);
  return names === '' ? resources : t('sec.rule.named', { resources, names });
};

/** Role and ClusterRole. */
export const roleSections = (role: KubeObject): Section[] => {
  const rules = listAt(role, 'rules');
  const selectors = listAt(role, 'aggregationRule', 'clusterRoleSelectors');
  return section(
    'rules',
    t('sec.rules', { count: rules.length }),
    blocks(
      {
        form: 'facts',
        facts: facts([
          t('sec.rule.aggregated'),
          mono(selectors.map((each) => pairsText(entriesAt(each, 'matchLabels'))).join(' | ')),
        ]),
      },
      {
        form: 'table',
        head: [t('sec.rule.resources'), t('sec.rule.groups'), t('sec.rule.verbs')],
        rows: rules.map((rule) => [
          mono(ruleTarget(rule)),
          mono(rule['nonResourceURLs'] === undefined ? groupsText(rule['apiGroups']) : '–'),
          mono(joined(rule['verbs'])),
        ]),
      },
    ),
    { empty: t('sec.rules.none') },
  );
};

/** RoleBinding and ClusterRoleBinding. */
export const bindingSections = (binding: KubeObject): Section[] => {
  const roleKind = textAt(binding, 'roleRef', 'kind');
  const namespace = namespaceOf(binding);
  return section(
    'binding',
    t('sec.subjects'),
    blocks(
      {
        form: 'facts',
        facts: facts([
          t('sec.roleRef'),
          linkedKind({
            apiVersion: 'rbac.authorization.k8s.io/v1',
            kind: roleKind,
            namespace: roleKind === 'Role' ? namespace : '',
            name: textAt(binding, 'roleRef', 'name'),
          }),
        ]),
      },
      {
        form: 'table',
        head: [t('sec.subject.kind'), t('sec.subject.name'), t('sec.subject.namespace')],
        rows: listAt(binding, 'subjects').map((subject) => {
          const kind = textAt(subject, 'kind');
          const name = textAt(subject, 'name');
          const place = textAt(subject, 'namespace') || (kind === 'ServiceAccount' ? namespace : '');
          return [
            plain(kind),
            kind === 'ServiceAccount' ? { text: name, link: coreLink(kind, name, place) } : mono(name),
            plain(place || '–'),
          ];
        }),
      },
    ),
    { empty: t('sec.subjects.none') },
  );
};

export const serviceAccountSections = (account: KubeObject): Section[] =>
  section(
    'account',
    t('sec.account'),
    blocks({
      form: 'facts',
      facts: facts(
        [
          t('sec.account.token'),
          at(account, 'automountServiceAccountToken') === false ? t('sec.no') : t('sec.yes'),
        ],
        [
          t('sec.account.pullSecrets'),
          listAt(account, 'imagePullSecrets')
            .map((each) => textAt(each, 'name'))
            .join(', '),
        ],
      ),
    }),
  );
