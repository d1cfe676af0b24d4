import { parseInt64 } from '../../../api/meta/int64.ts';
import type { ObjectMeta } from '../../../api/meta/object-meta.ts';
import { maybeObj, obj, sameValue, strMap, type Obj } from '../../../api/validation/read.ts';
import { metaOf } from '../generic/metadata.ts';
import type { Strategy } from '../generic/strategy.ts';

const CONTROLLER_UID = 'batch.kubernetes.io/controller-uid';
const JOB_NAME = 'batch.kubernetes.io/job-name';
const LEGACY_CONTROLLER_UID = 'controller-uid';
const LEGACY_JOB_NAME = 'job-name';

/** A Job's pods carry its uid, so that no two jobs ever select the same pod; `manualSelector` opts out. */
const withSelector = (spec: Obj, uid: string, name: string): Obj => {
  const template = obj(spec, 'template');
  const metadata = obj(template, 'metadata');
  const selector = maybeObj(spec, 'selector') ?? {};
  const own = {
    [LEGACY_JOB_NAME]: name,
    [JOB_NAME]: name,
    [LEGACY_CONTROLLER_UID]: uid,
    [CONTROLLER_UID]: uid,
  };
  return {
    ...spec,
    selector: { ...selector, matchLabels: { [CONTROLLER_UID]: uid, ...strMap(selector, 'matchLabels') } },
    template: { ...template, metadata: { ...metadata, labels: { ...own, ...strMap(metadata, 'labels') } } },
  };
};

export const jobStrategy: Strategy = {
  prepareForCreate(draft) {
    const spec = obj(draft, 'spec');
    if (spec['manualSelector'] === true) return;
    const meta = metaOf(draft);
    const { uid = '', name = '' } = meta;
    draft['spec'] = withSelector(spec, uid, name);
    // A Job without labels has those of its pods: as its default whenever it is read, so also in the answer.
    if (Object.keys(meta.labels ?? {}).length > 0) return;
    const labels = strMap(obj(obj(obj(draft, 'spec'), 'template'), 'metadata'), 'labels');
    if (Object.keys(labels).length > 0) meta.labels = { ...labels };
  },
};

/** apps/v1 has no field for it: upstream keeps it in an annotation, counted with the pod template. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

const templateGenerationOf = (meta: ObjectMeta | undefined): bigint =>
  parseInt64(meta?.annotations?.[TEMPLATE_GENERATION] ?? '') ?? 0n;

export const daemonSetStrategy: Strategy = {
  prepareForCreate(draft) {
    const meta = metaOf(draft);
    const asked = templateGenerationOf(meta);
    meta.annotations = { ...meta.annotations, [TEMPLATE_GENERATION]: String(asked >= 1n ? asked : 1n) };
  },
  prepareForUpdate(draft, old) {
    const meta = metaOf(draft);
    const before = templateGenerationOf(old.metadata);
    const isSame = sameValue(obj(draft, 'spec')['template'], obj(old, 'spec')['template']);
    meta.annotations = {
      ...meta.annotations,
      [TEMPLATE_GENERATION]: String(isSame ? before : BigInt.asIntN(64, before + 1n)),
    };
  },
};
