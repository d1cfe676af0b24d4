import * as v from 'valibot';
import { clusterAction, type ClusterAction } from '../../contract/actions/actions.ts';
import type { Timeline } from '../timeline/timeline.ts';
import { actionDraft } from '../timeline/action-draft.ts';
import type { ControlMethod } from './protocol.ts';
import type { ControlHandlers } from './server.ts';

type AnyHandler = (params: Record<string, unknown>, progress: (line: string) => void) => Promise<unknown>;

/** What only asks, or continues what was recorded when it began. */
const QUESTIONS: readonly ControlMethod[] = [
  'status',
  'snapshot.compare',
  'backup.get',
  'backup.set',
  'upgrade.plan',
  'upgrade.pause',
  'upgrade.resume',
  'fault.list',
  'drill.view',
  // Its solution records its own steps; the setup is what a person has to find out.
  'drill.request',
  'action.preview',
];

/** What travels as text: the parameter of the method, and what it is called in the action. */
const AS_TEXT: Readonly<Partial<Record<string, readonly [string, string]>>> = {
  'fault.add': ['request', 'fault'],
  'harden.apply': ['wishes', 'wishes'],
};

const parsedText = (text: unknown): unknown => {
  try {
    return JSON.parse(String(text));
  } catch {
    // The method's own handler says what is wrong with it.
    return undefined;
  }
};

/** Methods and actions of the console share names and parameters. */
const actionOf = (method: string, params: Record<string, unknown>): ClusterAction | undefined => {
  const [from, to] = AS_TEXT[method] ?? [];
  const more = from === undefined || to === undefined ? {} : { [to]: parsedText(params[from]) };
  const parsed = v.safeParse(clusterAction, { ...params, ...more, kind: method });
  return parsed.success ? parsed.output : undefined;
};

/** Handlers that also record on the timeline what they were asked to do. */
export const recorded = (handlers: ControlHandlers, timeline: Timeline): ControlHandlers => {
  const wrapped = Object.entries(handlers).map(([method, handler]) => {
    const run = handler as AnyHandler;
    if (QUESTIONS.includes(method as ControlMethod)) return [method, run];
    const recording: AnyHandler = (params, progress) => {
      const action = actionOf(method, params);
      if (!action) return run(params, progress);
      const { draft, failed } = actionDraft(action);
      return timeline.during(draft, failed, () => run(params, progress));
    };
    return [method, recording];
  });
  return Object.fromEntries(wrapped) as unknown as ControlHandlers;
};
