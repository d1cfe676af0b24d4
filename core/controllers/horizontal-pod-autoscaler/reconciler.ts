import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import {
  formatTime,
  groupKindText,
  isConflict,
  isNotFound,
  objectKey,
  parseApiVersion,
  withCondition,
} from '../../api/meta/index.ts';
import { parseLabelSelector, type LabelSelector } from '../../api/selector/index.ts';
import { quantity, sameValue } from '../../api/validation/read.ts';
import type { V1Scale, V2MetricSpec } from '../../api/schema/index.ts';
import {
  HORIZONTAL_POD_AUTOSCALER,
  RestMapper,
  type Client,
  type EventRecorder,
  type HorizontalPodAutoscaler,
  type Kind,
  type Pod,
  type Store,
  type Stored,
} from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import { afterScaling, emptyHistory, type Condition, type History } from './behavior.ts';
import { decide, decideWithoutMetrics, evaluate, type Decision } from './decide.ts';
import { actionOf, type HpaAction, type HpaMetrics } from './hpa-metrics.ts';
import { MetricFailure, proposeFor, type MetricInput, type Proposal } from './metric-proposal.ts';
import { metricValues, type MetricValues } from './metric-values.ts';
import type { Tolerances } from './replica-count.ts';

const CONFLICTS_MAX = 5;

type Status = NonNullable<HorizontalPodAutoscaler['status']>;

/** A failure that an event and a condition report: it is repeated after the sync period, without a back-off. */
export class Reported extends Error {
  override readonly name = 'Reported';
}

/** An autoscaler on its way through one pass: its status grows, and is written at the end. */
class Pass {
  readonly hpa: Stored<HorizontalPodAutoscaler>;
  readonly namespace: string;
  readonly #now: string;
  status: Status;

  constructor(hpa: Stored<HorizontalPodAutoscaler>, now: string) {
    this.hpa = hpa;
    this.namespace = hpa.metadata.namespace ?? '';
    this.#now = now;
    this.status = { ...hpa.status, desiredReplicas: hpa.status?.desiredReplicas ?? 0 };
  }

  set(condition: Condition): void {
    const conditions = [...withCondition(this.status.conditions, condition, this.#now)];
    this.status = { ...this.status, conditions: conditions as NonNullable<Status['conditions']> };
  }
}

const toleranceOf = (text: string | undefined, fallback: number): number => {
  const parsed = text === undefined ? undefined : quantity(text);
  return parsed ? parsed.toNumber() : fallback;
};

const tolerancesOf = ({ spec }: HorizontalPodAutoscaler, fallback: number): Tolerances => ({
  scaleDown: toleranceOf(spec.behavior?.scaleDown?.tolerance, fallback),
  scaleUp: toleranceOf(spec.behavior?.scaleUp?.tolerance, fallback),
});

export interface ReconcilerOptions {
  readonly client: Client;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly settings: ControllerSettings;
  readonly autoscalers: Store<HorizontalPodAutoscaler>;
  readonly pods: Store<Pod>;
  readonly metrics: HpaMetrics;
}

export interface Reconciled {
  readonly action: HpaAction;
  /** Some metrics failed, and the others decided. */
  readonly error: string | undefined;
}

interface Target {
  readonly kind: Kind;
  readonly scale: Stored<V1Scale>;
}

/** Brings one autoscaler after the other to what its metrics call for. Remembers what each has recommended. */
export class HpaReconciler {
  readonly #options: ReconcilerOptions;
  readonly #mapper: RestMapper;
  readonly #values: MetricValues;
  readonly #histories = new Map<string, History>();
  readonly #selectors = new Map<string, LabelSelector>();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#mapper = new RestMapper(options.client, options.clock);
    this.#values = metricValues(options.client, this.#mapper);
  }

  forget(key: string): void {
    this.#histories.delete(key);
    this.#selectors.delete(key);
  }

  /** Rejects with `Reported` for what the object itself says, and with other errors for what has to be retried. */
  async reconcile(hpa: Stored<HorizontalPodAutoscaler>): Promise<Reconciled> {
    const { clock, metrics } = this.#options;
    const key = objectKey(hpa);
    const pass = new Pass(hpa, formatTime(clock.nowMs()));
    const { kind, scale } = await this.#target(pass);
    const currentReplicas = scale.spec?.replicas ?? 0;
    const history = this.#histories.get(key) ?? emptyHistory(currentReplicas, clock.nowMs());
    this.#histories.set(key, history);
    const given = decideWithoutMetrics(hpa, currentReplicas, history);
    const decision: Decision & { readonly error?: string | undefined } =
      given ?? (await this.#decideByMetrics(pass, scale, history));
    for (const condition of decision.conditions) pass.set(condition);
    this.#histories.set(key, decision.history);
    const isRescaled = decision.replicas !== currentReplicas;
    if (isRescaled) {
      await this.#rescale(pass, kind, scale, decision);
      const step = { from: currentReplicas, to: decision.replicas, nowMs: clock.nowMs() };
      this.#histories.set(key, afterScaling(decision.history, hpa.spec.behavior, step));
    }
    pass.status = {
      ...pass.status,
      currentReplicas,
      desiredReplicas: decision.replicas,
      ...(isRescaled && { lastScaleTime: formatTime(clock.nowMs()) }),
    };
    if (given) delete pass.status.currentMetrics;
    metrics.desired(pass.namespace, hpa.metadata.name, decision.replicas);
    await this.#writeStatus(pass);
    return { action: actionOf(currentReplicas, decision.replicas), error: decision.error };
  }

  #warn({ hpa }: Pass, reason: string, message: string): void {
    this.#options.events.event(hpa, 'Warning', reason, message);
  }

  async #writeStatus(pass: Pass): Promise<void> {
    const { hpa, status, namespace } = pass;
    if (sameValue(hpa.status, status)) return;
    try {
      const resource = this.#options.client.resource(HORIZONTAL_POD_AUTOSCALER, namespace);
      await resource.updateStatus({ ...hpa, status });
    } catch (error) {
      if (isNotFound(error)) return;
      this.#warn(pass, 'FailedUpdateStatus', messageOf(error));
      throw error;
    }
  }

  /** Ends a pass that went wrong; its status says why. */
  async #fail(pass: Pass, reason: string, message: string): Promise<never> {
    await this.#writeStatus(pass);
    this.#warn(pass, reason, message);
    throw new Reported(message);
  }

  async #target(pass: Pass): Promise<Target> {
    try {
      const target = await this.#findTarget(pass);
      pass.set({
        type: 'AbleToScale',
        status: 'True',
        reason: 'SucceededGetScale',
        message: "the HPA controller was able to get the target's current scale",
      });
      return target;
    } catch (error) {
      pass.set({
        type: 'AbleToScale',
        status: 'False',
        reason: 'FailedGetScale',
        message: `the HPA controller was unable to get the target's current scale: ${messageOf(error)}`,
      });
      return this.#fail(pass, 'FailedGetScale', messageOf(error));
    }
  }

  async #findTarget({ hpa, namespace }: Pass): Promise<Target> {
    const { apiVersion = '', kind, name } = hpa.spec.scaleTargetRef;
    const gv = parseApiVersion(apiVersion);
    if (!gv) throw new Error(`unexpected GroupVersion string: ${apiVersion}`);
    const found =
      (await this.#mapper.ofKind({ ...gv, kind })) ?? (await this.#mapper.ofKind({ group: gv.group, kind }));
    if (!found)
      throw new Error(`no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(gv.group)}`);
    if (!found.subresources.includes('scale'))
      throw new Error(`${groupKindText({ group: gv.group, kind })} has no scale subresource`);
    return { kind: found, scale: await this.#options.client.resource(found, namespace).getScale(name) };
  }

  /** Ends a pass whose target has no selector that can be used. */
  #refuse(pass: Pass, scale: V1Scale, event: string, reason: string, message: string, condition = message) {
    pass.set({ type: 'ScalingActive', status: 'False', reason, message: condition });
    this.#warn(pass, event, message);
    pass.status = { ...pass.status, currentReplicas: scale.spec?.replicas ?? 0 };
    return this.#fail(pass, 'FailedComputeMetricsReplicas', message);
  }

  /** The selector of the target's pods, and those pods, which no other autoscaler may share. */
  async #selected(pass: Pass, scale: V1Scale): Promise<{ selector: LabelSelector; pods: Stored<Pod>[] }> {
    const { autoscalers, pods: store } = this.#options;
    const text = scale.status?.selector ?? '';
    if (text === '')
      return this.#refuse(
        pass,
        scale,
        'SelectorRequired',
        'InvalidSelector',
        'selector is required',
        "the HPA target's scale is missing a selector",
      );
    let selector: LabelSelector;
    try {
      selector = parseLabelSelector(text);
    } catch (error) {
      const why = `couldn't convert selector into a corresponding internal selector object: ${messageOf(error)}`;
      return this.#refuse(pass, scale, 'InvalidSelector', 'InvalidSelector', why);
    }
    this.#selectors.set(objectKey(pass.hpa), selector);
    const pods = store
      .inNamespace(pass.namespace)
      .filter(({ metadata }) => selector.matches(metadata.labels ?? {}));
    const sharing = autoscalers.inNamespace(pass.namespace).filter((other) => {
      const own = this.#selectors.get(objectKey(other));
      return own && pods.some(({ metadata }) => own.matches(metadata.labels ?? {}));
    });
    if (sharing.length <= 1) return { selector, pods };
    const names = sharing.map(({ metadata }) => `{${metadata.name} ${metadata.namespace}}`).join(' ');
    const why = `pods by selector ${text} are controlled by multiple HPAs: [${names}]`;
    return this.#refuse(pass, scale, 'AmbiguousSelector', 'AmbiguousSelector', why);
  }

  async #decideByMetrics(
    pass: Pass,
    scale: V1Scale,
    history: History,
  ): Promise<Decision & { readonly error?: string | undefined }> {
    const { settings, clock } = this.#options;
    const { hpa, namespace } = pass;
    const currentReplicas = scale.spec?.replicas ?? 0;
    const { selector, pods } = await this.#selected(pass, scale);
    const nowMs = clock.nowMs();
    const input = {
      namespace,
      selector,
      pods,
      specReplicas: currentReplicas,
      statusReplicas: scale.status?.replicas ?? 0,
      tolerances: tolerancesOf(hpa, settings['horizontal-pod-autoscaler-tolerance']),
      rules: {
        cpuInitializationMs: settings['horizontal-pod-autoscaler-cpu-initialization-period'],
        initialReadinessDelayMs: settings['horizontal-pod-autoscaler-initial-readiness-delay'],
        nowMs,
      },
    };
    const results = await Promise.allSettled(
      (hpa.spec.metrics ?? []).map((spec) => this.#propose(input, spec, hpa.status?.currentReplicas ?? 0)),
    );
    const { replicas, metric, statuses, condition, failures, error } = evaluate(results, currentReplicas);
    for (const failure of failures) this.#warn(pass, failure.reason, failure.detail);
    pass.set(condition);
    pass.status = { ...pass.status, currentReplicas, currentMetrics: [...statuses] };
    if (replicas === undefined) return this.#fail(pass, 'FailedComputeMetricsReplicas', error ?? '');
    const downscaleWindowMs = settings['horizontal-pod-autoscaler-downscale-stabilization'];
    const decision = decide(
      hpa,
      { replicas, metric },
      { currentReplicas, history, nowMs, downscaleWindowMs },
    );
    return { ...decision, error };
  }

  /** What one metric calls for, measured. */
  async #propose(input: MetricInput, spec: V2MetricSpec, currentReplicas: number): Promise<Proposal> {
    const { clock, metrics } = this.#options;
    const startMs = clock.monotonicMs();
    const seconds = (): number => (clock.monotonicMs() - startMs) / 1000;
    try {
      const proposal = await proposeFor(this.#values, input, spec);
      metrics.computed(spec.type, actionOf(currentReplicas, proposal.replicas), 'none', seconds());
      return proposal;
    } catch (error) {
      const isSpec = error instanceof MetricFailure && error.reason === 'InvalidMetricSourceType';
      metrics.computed(spec.type, 'none', isSpec ? 'spec' : 'internal', seconds());
      throw error;
    }
  }

  async #rescale(pass: Pass, kind: Kind, scale: Stored<V1Scale>, decision: Decision): Promise<void> {
    const { client, events } = this.#options;
    const { hpa, namespace } = pass;
    const { replicas, reason } = decision;
    const resource = client.resource(kind, namespace);
    const { name } = hpa.spec.scaleTargetRef;
    let latest = scale;
    for (let attempt = 1; ; attempt += 1)
      try {
        await resource.updateScale(name, { ...latest, spec: { ...latest.spec, replicas } });
        break;
      } catch (error) {
        if (isConflict(error) && attempt < CONFLICTS_MAX) {
          latest = await resource.getScale(name);
          continue;
        }
        const message = messageOf(error);
        pass.set({
          type: 'AbleToScale',
          status: 'False',
          reason: 'FailedUpdateScale',
          message: `the HPA controller was unable to update the target scale: ${message}`,
        });
        await this.#fail(
          pass,
          'FailedRescale',
          `New size: ${replicas}; reason: ${reason}; error: ${message}`,
        );
      }
    pass.set({
      type: 'AbleToScale',
      status: 'True',
      reason: 'SucceededRescale',
      message: `the HPA controller was able to update the target scale to ${replicas}`,
    });
    events.event(hpa, 'Normal', 'SuccessfulRescale', `New size: ${replicas}; reason: ${reason}`);
  }
}
