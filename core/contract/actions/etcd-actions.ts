import * as v from 'valibot';
import { defineAction, fileName, name, path } from './define.ts';

const member = { member: name };

export const etcdActions = {
  'member.moveLeader': defineAction('member.moveLeader', member, {
    icon: 'leader',
    subject: (action) => action.member,
    words: (action) => ['member', 'move-leader', action.member],
  }),
  'member.remove': defineAction('member.remove', member, {
    icon: 'trash',
    subject: (action) => action.member,
    typing: 'always',
    words: (action) => ['member', 'remove', action.member],
  }),
  /** One more control plane with a member of its own, or one more etcd host. */
  'member.add': defineAction(
    'member.add',
    {},
    {
      icon: 'plus',
      typing: 'never',
      words: () => ['member', 'add'],
    },
  ),
  /** Null: one after the other, the leader last. */
  'etcd.defragment': defineAction(
    'etcd.defragment',
    { member: v.nullable(name) },
    {
      icon: 'storage',
      title: (action) =>
        action.member === null ? { variant: '.all' } : { values: { member: action.member } },
      subject: (action) => action.member ?? undefined,
      words: (action) => (action.member === null ? ['defrag'] : undefined),
      canPause: true,
    },
  ),
  /** Null: up to the current revision. */
  'etcd.compact': defineAction(
    'etcd.compact',
    { revision: v.nullable(v.number()) },
    {
      icon: 'storage',
      title: ({ revision }) => (revision === null ? {} : { variant: '.to', values: { revision } }),
      words: ({ revision }) => ['compact', ...(revision === null ? [] : [`${revision}`])],
    },
  ),
  'etcd.disarm': defineAction('etcd.disarm', {}, { icon: 'storage' }),
  'snapshot.save': defineAction(
    'snapshot.save',
    {},
    {
      icon: 'snapshot',
      meaning: () => 'snapshot.save',
      typing: 'never',
      words: () => ['snapshot', 'save'],
    },
  ),
  'snapshot.restore': defineAction(
    'snapshot.restore',
    { file: path },
    {
      icon: 'restart',
      title: ({ file }) => ({ values: { file: fileName(file) } }),
      subject: ({ file }) => fileName(file),
      typing: 'always',
      words: ({ file }) => ['snapshot', 'restore', file],
    },
  ),
  'snapshot.delete': defineAction(
    'snapshot.delete',
    { file: path },
    {
      icon: 'trash',
      title: ({ file }) => ({ values: { file: fileName(file) } }),
      meaning: () => 'snapshot.delete',
      subject: ({ file }) => fileName(file),
      line: ({ file }) => ['rm', file],
      isOffline: true,
    },
  ),
};
