import type { Messages } from '../i18n.ts';
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

export const de: Messages = {
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
};
