import { expect, test } from 'vitest';
import { leadershipLines } from './leadership-lines.ts';

test("changes of role and leader are worded as etcd's Raft words them", () => {
  const follower = { role: 'follower', term: 2, leader: 0 } as const;
  const leader = { role: 'leader', term: 3, leader: 0xa } as const;
  expect([
    ...leadershipLines(0xa, follower, leader),
    ...leadershipLines(0xa, leader, { role: 'follower', term: 4, leader: 0xb }),
    ...leadershipLines(0xa, { role: 'follower', term: 4, leader: 0xb }, { ...follower, term: 5 }),
  ]).toEqual([
    'a became leader at term 3',
    'raft.node: a elected leader a at term 3',
    'a became follower at term 4',
    'raft.node: a changed leader from a to b at term 4',
    'raft.node: a lost leader b at term 5',
  ]);
});
