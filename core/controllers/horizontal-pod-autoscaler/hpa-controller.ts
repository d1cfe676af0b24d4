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
import type { V1Scale } from '../../api/schema/index.ts';
import {
  HORIZONTAL_POD_AUTOSCALER,
  POD,
  RestMapper,
  type HorizontalPodAutoscaler,
  type Kind,
  type Stored,
} from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';
import { afterScaling, emptyHistory, type Condition, type History } from './behavior.ts';
import { decide, decideWithoutMetrics, evaluate, type Decision } from './decide.ts';
import { proposeFor } from './metric-proposal.ts';
import { metricValues } from './metric-values.ts';
import type { Tolerances } from './replica-count.ts';

const CONFLICTS_MAX = 5;

type Status = NonNullable<HorizontalPodAutoscaler['status']>;

/** An autoscaler on its way through one pass: its status grows, and is written at the end. */
class Pass {
  readonly hpa: Stored<HorizontalPodAutoscaler>;
  readonly #now: string;
  status: Status;

  constructor(hpa: Stored<HorizontalPodAutoscaler>, now: string) {
    this.hpa = hpa;
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

const failedGetScale = (error: unknown): Condition => ({
  type: 'AbleToScale',
  status: 'False',
  reason: 'FailedGetScale',
  message: `the HPA controller was unable to get the target's current scale: ${messageOf(error)}`,
});

/** A failure that was told by an event and a condition: it is repeated after the sync period, without a back-off. */
class Told extends Error {
  override readonly name = 'Told';
}

/** Scales the targets of HorizontalPodAutoscalers by their metrics. */
export const horizontalPodAutoscalerController: ControllerDefinition<ControllerSettings> = {
  name: 'horizontal-pod-autoscaler-controller',
  aliases: ['horizontalpodautoscaling'],
  serviceAccount: 'horizontal-pod-autoscaler',
  isOnByDefault: true,
  create(context, settings) {
    const { client, informers, events, clock, log } = context;
    const syncMs = settings['horizontal-pod-autoscaler-sync-period'];
    const autoscalers = informers.informer(HORIZONTAL_POD_AUTOSCALER);
    const pods = informers.informer(POD);
    const mapper = new RestMapper(client, clock);
    const values = metricValues(client, mapper);
    const histories = new Map<string, History>();
    const selectors = new Map<string, LabelSelector>();

    const warn = (hpa: Stored<HorizontalPodAutoscaler>, reason: string, message: string): void =>
      events.event(hpa, 'Warning', reason, message);

    const writeStatus = async ({ hpa, status }: Pass): Promise<void> => {
      if (sameValue(hpa.status, status)) return;
      try {
        await client
          .resource(HORIZONTAL_POD_AUTOSCALER, hpa.metadata.namespace)
          .updateStatus({ ...hpa, status });
      } catch (error) {
        if (isNotFound(error)) return;
        warn(hpa, 'FailedUpdateStatus', messageOf(error));
        throw error;
      }
    };

    /** Ends a pass that went wrong; its status says why. */
    const fail = async (pass: Pass, reason: string, message: string): Promise<never> => {
      await writeStatus(pass);
      warn(pass.hpa, reason, message);
      throw new Told(message);
    };

    const targetOf = async ({ hpa }: Pass): Promise<{ kind: Kind; scale: Stored<V1Scale> }> => {
      const { apiVersion = '', kind, name } = hpa.spec.scaleTargetRef;
      const gv = parseApiVersion(apiVersion);
      if (!gv) throw new Error(`unexpected GroupVersion string: ${apiVersion}`);
      const found =
        (await mapper.ofKind({ ...gv, kind })) ?? (await mapper.ofKind({ group: gv.group, kind }));
      if (!found)
        throw new Error(`no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(gv.group)}`);
      if (!found.subresources.includes('scale'))
        throw new Error(`${groupKindText({ group: gv.group, kind })} has no scale subresource`);
      return { kind: found, scale: await client.resource(found, hpa.metadata.namespace).getScale(name) };
    };

    /** The selector of the target's pods, which no other autoscaler may share. */
    const selectorOf = async (pass: Pass, scale: V1Scale): Promise<LabelSelector> => {
      const { hpa } = pass;
      const text = scale.status?.selector ?? '';
      const refuse = (
        event: string,
        reason: string,
        message: string,
        condition = message,
      ): Promise<never> => {
        pass.set({ type: 'ScalingActive', status: 'False', reason, message: condition });
        warn(hpa, event, message);
        pass.status = { ...pass.status, currentReplicas: scale.spec?.replicas ?? 0 };
        return fail(pass, 'FailedComputeMetricsReplicas', message);
      };
      if (text === '')
        return refuse(
          'SelectorRequired',
          'InvalidSelector',
          'selector is required',
          "the HPA target's scale is missing a selector",
        );
      let selector: LabelSelector;
      try {
        selector = parseLabelSelector(text);
      } catch (error) {
        return refuse(
          'InvalidSelector',
          'InvalidSelector',
          `couldn't convert selector into a corresponding internal selector object: ${messageOf(error)}`,
        );
      }
      const namespace = hpa.metadata.namespace ?? '';
      selectors.set(objectKey(hpa), selector);
      const selected = pods.store
        .inNamespace(namespace)
        .filter(({ metadata }) => selector.matches(metadata.labels ?? {}));
      const sharing = autoscalers.store.inNamespace(namespace).filter((other) => {
        const own = selectors.get(objectKey(other));
        return own && selected.some(({ metadata }) => own.matches(metadata.labels ?? {}));
      });
      if (sharing.length > 1)
        return refuse(
          'AmbiguousSelector',
          'AmbiguousSelector',
          `pods by selector ${text} are controlled by multiple HPAs: [${sharing
            .map(({ metadata }) => `{${metadata.name} ${metadata.namespace}}`)
            .join(' ')}]`,
        );
      return selector;
    };

    const decideByMetrics = async (
      pass: Pass,
      scale: V1Scale,
      history: History,
    ): Promise<Decision & { readonly error?: string | undefined }> => {
      const { hpa } = pass;
      const currentReplicas = scale.spec?.replicas ?? 0;
      const selector = await selectorOf(pass, scale);
      const namespace = hpa.metadata.namespace ?? '';
      const nowMs = clock.nowMs();
      const input = {
        namespace,
        selector,
        pods: pods.store
          .inNamespace(namespace)
          .filter(({ metadata }) => selector.matches(metadata.labels ?? {})),
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
        (hpa.spec.metrics ?? []).map((spec) => proposeFor(values, input, spec)),
      );
      const { replicas, metric, statuses, condition, failures, error } = evaluate(results, currentReplicas);
      for (const failure of failures) warn(hpa, failure.reason, failure.detail);
      pass.set(condition);
      pass.status = { ...pass.status, currentReplicas, currentMetrics: [...statuses] };
      if (replicas === undefined) return fail(pass, 'FailedComputeMetricsReplicas', error ?? '');
      const decision = decide(
        hpa,
        { replicas, metric },
        {
          currentReplicas,
          history,
          nowMs,
          downscaleWindowMs: settings['horizontal-pod-autoscaler-downscale-stabilization'],
        },
      );
      return { ...decision, error };
    };

    const rescale = async (
      pass: Pass,
      kind: Kind,
      scale: Stored<V1Scale>,
      decision: Decision,
    ): Promise<void> => {
      const { hpa } = pass;
      const { replicas, reason } = decision;
      const resource = client.resource(kind, hpa.metadata.namespace);
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
          await fail(pass, 'FailedRescale', `New size: ${replicas}; reason: ${reason}; error: ${message}`);
        }
      pass.set({
        type: 'AbleToScale',
        status: 'True',
        reason: 'SucceededRescale',
        message: `the HPA controller was able to update the target scale to ${replicas}`,
      });
      events.event(hpa, 'Normal', 'SuccessfulRescale', `New size: ${replicas}; reason: ${reason}`);
    };

    const reconcile = async (key: string, hpa: Stored<HorizontalPodAutoscaler>): Promise<void> => {
      const pass = new Pass(hpa, formatTime(clock.nowMs()));
      let target: Awaited<ReturnType<typeof targetOf>>;
      try {
        target = await targetOf(pass);
      } catch (error) {
        pass.set(failedGetScale(error));
        return fail(pass, 'FailedGetScale', messageOf(error));
      }
      const { kind, scale } = target;
      pass.set({
        type: 'AbleToScale',
        status: 'True',
        reason: 'SucceededGetScale',
        message: "the HPA controller was able to get the target's current scale",
      });
      const currentReplicas = scale.spec?.replicas ?? 0;
      const history = histories.get(key) ?? emptyHistory(currentReplicas, clock.nowMs());
      histories.set(key, history);
      const given = decideWithoutMetrics(hpa, currentReplicas, history);
      const decision: Decision & { readonly error?: string | undefined } =
        given ?? (await decideByMetrics(pass, scale, history));
      for (const condition of decision.conditions) pass.set(condition);
      histories.set(key, decision.history);
      const isRescaled = decision.replicas !== currentReplicas;
      if (isRescaled) {
        await rescale(pass, kind, scale, decision);
        histories.set(
          key,
          afterScaling(decision.history, hpa.spec.behavior, {
            from: currentReplicas,
            to: decision.replicas,
            nowMs: clock.nowMs(),
          }),
        );
      }
      pass.status = {
        ...pass.status,
        currentReplicas,
        desiredReplicas: decision.replicas,
        ...(isRescaled && { lastScaleTime: formatTime(clock.nowMs()) }),
      };
      if (given) delete pass.status.currentMetrics;
      await writeStatus(pass);
      if (decision.error !== undefined) throw new Told(decision.error);
    };

    const forget = (key: string): void => {
      histories.delete(key);
      selectors.delete(key);
    };

    const loop = workLoop(context, {
      name: 'horizontalpodautoscaler',
      workers: settings['concurrent-horizontal-pod-autoscaler-syncs'],
      async handle(key) {
        const hpa = autoscalers.store.get(key);
        if (!hpa) return forget(key);
        try {
          await reconcile(key, hpa);
        } catch (error) {
          if (!(error instanceof Told) && !isConflict(error)) throw error;
          log.write('debug', 'an autoscaler could not be reconciled', { hpa: key, error: error.message });
        }
        return { requeueAfterMs: syncMs };
      },
    });
    const enqueue = (hpa: Stored<HorizontalPodAutoscaler>): void => loop.queue.add(objectKey(hpa));
    autoscalers.addHandler({
      added: enqueue,
      // Its own writes of the status are no reason for another pass.
      updated: (before, hpa) => {
        if (!sameValue(before.spec, hpa.spec)) enqueue(hpa);
      },
      deleted: enqueue,
    });
    return loop;
  },
};
