import { t } from '../../locales/i18n.ts';
import { at, entriesAt, fieldsOf, listAt, textAt, type KubeObject } from '../kube-object.ts';
import {
  blocks,
  coreLink,
  facts,
  joined,
  linked,
  mono,
  namespaceOf,
  pairsText,
  plain,
  section,
  toned,
  type Block,
  type Cell,
  type Related,
  type Section,
} from './section.ts';

/** More would say nothing new: the slices themselves are a click away. */
const ENDPOINTS_SHOWN_MAX = 100;

const addressesOf = (object: KubeObject): string =>
  listAt(object, 'status', 'loadBalancer', 'ingress')
    .map((each) => textAt(each, 'ip') || textAt(each, 'hostname'))
    .join(', ');

const endpointState = (endpoint: KubeObject): Cell => {
  const conditions = fieldsOf(endpoint['conditions']);
  if (conditions['terminating'] === true) return toned(t('sec.endpoint.terminating'), 'pending');
  // An unset condition means ready, as the API says.
  return conditions['ready'] === false
    ? toned(t('sec.endpoint.notReady'), 'warn')
    : toned(t('sec.endpoint.ready'), 'ok');
};

const slicePorts = (slice: KubeObject): string =>
  listAt(slice, 'ports')
    .map((port) => {
      const name = textAt(port, 'name');
      return `${name === '' ? '' : `${name} `}${textAt(port, 'port')}/${textAt(port, 'protocol')}`;
    })
    .join(', ');

const endpointRows = (slices: readonly KubeObject[], namespace: string): Cell[][] =>
  slices
    .flatMap((slice) =>
      listAt(slice, 'endpoints').map((endpoint) => {
        const target = textAt(endpoint, 'targetRef', 'name');
        return [
          mono(joined(endpoint['addresses'])),
          mono(slicePorts(slice)),
          target === ''
            ? plain('–')
            : linked(coreLink(textAt(endpoint, 'targetRef', 'kind') || 'Pod', target, namespace)),
          endpointState(endpoint),
        ];
      }),
    )
    .slice(0, ENDPOINTS_SHOWN_MAX);

const endpointBlock = (slices: readonly KubeObject[], namespace: string): Block => ({
  form: 'table',
  head: [t('sec.endpoint.address'), t('sec.endpoint.ports'), t('sec.endpoint.target'), t('sec.state')],
  rows: endpointRows(slices, namespace),
});

const readyCount = (slices: readonly KubeObject[]): { readonly ready: number; readonly all: number } => {
  const endpoints = slices.flatMap((slice) => listAt(slice, 'endpoints'));
  return {
    ready: endpoints.filter((each) => at(each, 'conditions', 'ready') !== false).length,
    all: endpoints.length,
  };
};

const endpointsSection = (service: KubeObject, slices: readonly KubeObject[] | undefined): Section[] => {
  if (!slices || textAt(service, 'spec', 'type') === 'ExternalName') return [];
  const { ready, all } = readyCount(slices);
  return section('endpoints', t('sec.endpoints'), blocks(endpointBlock(slices, namespaceOf(service))), {
    state: toned(
      t('sec.ofReady', { ready, wanted: all }),
      ready === 0 ? 'error' : ready < all ? 'warn' : 'ok',
    ),
    empty: t('sec.endpoints.none'),
  });
};

export const serviceSections = (service: KubeObject, { endpointSlices }: Related): Section[] => {
  const selector = entriesAt(service, 'spec', 'selector');
  return [
    ...section(
      'service',
      t('sec.service'),
      blocks(
        {
          form: 'facts',
          facts: facts(
            [t('sec.type'), textAt(service, 'spec', 'type')],
            [t('sec.clusterIps'), mono(joined(at(service, 'spec', 'clusterIPs')))],
            [t('sec.externalIps'), mono(joined(at(service, 'spec', 'externalIPs')))],
            [t('sec.externalName'), mono(textAt(service, 'spec', 'externalName'))],
            [t('sec.loadBalancer'), mono(addressesOf(service))],
            [
              t('sec.selector'),
              selector.length > 0 ? mono(pairsText(selector)) : t('sec.service.noSelector'),
            ],
            [t('sec.affinity'), textAt(service, 'spec', 'sessionAffinity')],
            [t('sec.internalPolicy'), textAt(service, 'spec', 'internalTrafficPolicy')],
            [t('sec.externalPolicy'), textAt(service, 'spec', 'externalTrafficPolicy')],
          ),
        },
        {
          form: 'table',
          title: t('sec.ports'),
          head: [t('sec.port.name'), t('sec.port.port'), t('sec.port.target'), t('sec.port.node')],
          rows: listAt(service, 'spec', 'ports').map((port) => [
            mono(textAt(port, 'name') || '–'),
            mono(`${textAt(port, 'port')}/${textAt(port, 'protocol') || 'TCP'}`),
            mono(textAt(port, 'targetPort') || textAt(port, 'port')),
            mono(textAt(port, 'nodePort') || '–'),
          ]),
        },
      ),
    ),
    ...endpointsSection(service, endpointSlices),
  ];
};

export const endpointSliceSections = (slice: KubeObject): Section[] => {
  const { ready, all } = readyCount([slice]);
  const service = entriesAt(slice, 'metadata', 'labels').find(
    ([key]) => key === 'kubernetes.io/service-name',
  )?.[1];
  return section(
    'endpoints',
    t('sec.endpoints'),
    blocks(
      {
        form: 'facts',
        facts: facts(
          [
            t('sec.service'),
            service === undefined ? undefined : linked(coreLink('Service', service, namespaceOf(slice))),
          ],
          [t('sec.endpoint.addressType'), textAt(slice, 'addressType')],
        ),
      },
      endpointBlock([slice], namespaceOf(slice)),
    ),
    { state: toned(t('sec.ofReady', { ready, wanted: all }), ready < all ? 'warn' : 'ok') },
  );
};

const backendCell = (backend: unknown, namespace: string): Cell => {
  const name = textAt(backend, 'service', 'name');
  if (name === '')
    return plain(`${textAt(backend, 'resource', 'kind')} ${textAt(backend, 'resource', 'name')}`.trim());
  const port = textAt(backend, 'service', 'port', 'name') || textAt(backend, 'service', 'port', 'number');
  return linked(coreLink('Service', name, namespace), `${name}:${port}`);
};

export const ingressSections = (ingress: KubeObject): Section[] => {
  const namespace = namespaceOf(ingress);
  const fallback = at(ingress, 'spec', 'defaultBackend');
  const routes = listAt(ingress, 'spec', 'rules').flatMap((rule) =>
    listAt(rule, 'http', 'paths').map((path) => [
      mono(textAt(rule, 'host') || '*'),
      mono(textAt(path, 'path') || '/'),
      plain(textAt(path, 'pathType')),
      backendCell(path['backend'], namespace),
    ]),
  );
  return section(
    'routes',
    t('sec.routes'),
    blocks(
      {
        form: 'facts',
        facts: facts(
          [
            t('sec.ingressClass'),
            textAt(ingress, 'spec', 'ingressClassName') === ''
              ? undefined
              : linked({
                  apiVersion: 'networking.k8s.io/v1',
                  kind: 'IngressClass',
                  namespace: '',
                  name: textAt(ingress, 'spec', 'ingressClassName'),
                }),
          ],
          [t('sec.loadBalancer'), mono(addressesOf(ingress))],
          [t('sec.defaultBackend'), fallback === undefined ? undefined : backendCell(fallback, namespace)],
        ),
      },
      {
        form: 'table',
        head: [t('sec.route.host'), t('sec.route.path'), t('sec.route.match'), t('sec.route.backend')],
        rows: routes,
      },
      {
        form: 'table',
        title: t('sec.tls'),
        head: [t('sec.tls.hosts'), t('sec.tls.secret')],
        rows: listAt(ingress, 'spec', 'tls').map((each) => [
          mono(joined(each['hosts']) || '*'),
          linked(coreLink('Secret', textAt(each, 'secretName'), namespace)),
        ]),
      },
    ),
    { empty: t('sec.routes.none') },
  );
};

const policyPorts = (rule: KubeObject): string =>
  listAt(rule, 'ports')
    .map((port) =>
      [textAt(port, 'protocol') || 'TCP', textAt(port, 'port'), textAt(port, 'endPort')]
        .filter(Boolean)
        .join(' '),
    )
    .join(', ') || t('sec.policy.allPorts');

const peerText = (peer: KubeObject): string => {
  const block = textAt(peer, 'ipBlock', 'cidr');
  if (block !== '') return block;
  const part = (field: string, word: string): string => {
    if (peer[field] === undefined) return '';
    const labels = pairsText(entriesAt(peer, field, 'matchLabels'));
    return `${word} ${labels === '' ? t('sec.policy.all') : labels}`;
  };
  return [part('namespaceSelector', t('sec.policy.namespaces')), part('podSelector', t('sec.policy.pods'))]
    .filter(Boolean)
    .join(', ');
};

const policyBlock = (policy: KubeObject, direction: 'ingress' | 'egress'): Block => ({
  form: 'table',
  title: t(`sec.policy.${direction}`),
  head: [t(direction === 'ingress' ? 'sec.policy.from' : 'sec.policy.to'), t('sec.policy.ports')],
  rows: listAt(policy, 'spec', direction).map((rule) => [
    plain(
      listAt(rule, direction === 'ingress' ? 'from' : 'to')
        .map(peerText)
        .join('; ') || t('sec.policy.anyone'),
    ),
    mono(policyPorts(rule)),
  ]),
});

export const networkPolicySections = (policy: KubeObject): Section[] => {
  const labels = pairsText(entriesAt(policy, 'spec', 'podSelector', 'matchLabels'));
  return section(
    'policy',
    t('sec.policy'),
    blocks(
      {
        form: 'facts',
        facts: facts(
          [t('sec.policy.applies'), labels === '' ? t('sec.policy.everyPod') : mono(labels)],
          [t('sec.policy.types'), joined(at(policy, 'spec', 'policyTypes'))],
        ),
      },
      policyBlock(policy, 'ingress'),
      policyBlock(policy, 'egress'),
    ),
  );
};
