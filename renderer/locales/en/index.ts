import { clusters } from './clusters.ts';
import { detail } from './detail.ts';
import { editor } from './editor.ts';
import { operations } from './operations.ts';
import { processes } from './processes.ts';
import { raft } from './raft.ts';
import { resources } from './resources.ts';
import { settings } from './settings.ts';
import { shell } from './shell.ts';
import { states } from './states.ts';

/** The reference: its keys and placeholders are what every other language must have. */
export const en = {
  ...shell,
  ...states,
  ...clusters,
  ...detail,
  ...editor,
  ...operations,
  ...processes,
  ...raft,
  ...resources,
  ...settings,
} as const;
