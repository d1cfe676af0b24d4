import { actionCommand, say, type ClusterAction, type Said } from '../../contract/index.ts';
import type { Draft } from './draft.ts';

const aboutOf = (action: ClusterAction): readonly string[] => {
  if (action.kind === 'fault.add')
    return 'host' in action.fault ? [action.fault.host] : [action.fault.from, action.fault.to];
  if (action.kind === 'node.drain') return [action.node];
  if ('member' in action && action.member !== null) return [action.member];
  return 'host' in action ? [action.host] : [];
};

const sourceOf = ({ kind }: ClusterAction): string => {
  if (kind.startsWith('upgrade.')) return '/upgrade';
  if (kind.startsWith('snapshot.')) return '/snapshots';
  if (kind.startsWith('certificates.')) return '/certificates';
  if (kind.startsWith('member.') || kind.startsWith('etcd.')) return '/raft';
  return '/';
};

const kindOf = ({ kind }: ClusterAction): Draft['kind'] => {
  if (kind.startsWith('upgrade.')) return 'upgrade';
  return kind === 'snapshot.save' ? 'snapshot' : 'action';
};

/** Told as a command line, which has one language and is the same for a button and for a shell. */
export const actionDraft = (
  action: ClusterAction,
): { readonly draft: Omit<Draft, 'span'>; failed(why: Said): Said } => {
  const none = { directory: undefined, kubeconfigPath: undefined };
  const command = actionCommand(action, none) ?? action.kind;
  return {
    draft: {
      lane: 'operator',
      kind: kindOf(action),
      severity: 'info',
      about: aboutOf(action),
      text: say('timeline.action', { command }),
      source: sourceOf(action),
    },
    failed: (why) => say('timeline.action.failed', { command, why }),
  };
};

/** A snapshot by the schedule: no one asked for it, and it belongs to those that people take. */
export const SCHEDULED_SNAPSHOT: ReturnType<typeof actionDraft> = {
  draft: {
    lane: 'operator',
    kind: 'snapshot',
    severity: 'info',
    about: [],
    text: say('timeline.snapshot.scheduled'),
    source: '/snapshots',
  },
  failed: (why) => say('timeline.action.failed', { command: say('timeline.snapshot.scheduled'), why }),
};
