import { german } from '../../../core/contract/sentences/de/index.ts';
import type { Messages } from '../i18n.ts';
import { actionsPage } from './actions.ts';
import { addNode } from './add-node.ts';
import { admission } from './admission.ts';
import { certificates } from './certificates.ts';
import { clusters } from './clusters.ts';
import { controllersPage } from './controllers.ts';
import { detail } from './detail.ts';
import { doctorPage } from './doctor.ts';
import { drills } from './drills.ts';
import { editor } from './editor.ts';
import { events } from './events.ts';
import { extensionsPage } from './extensions.ts';
import { files } from './files.ts';
import { forwardsPage } from './forwards.ts';
import { graphPage } from './graph.ts';
import { guard } from './guard.ts';
import { helm } from './helm.ts';
import { history } from './history.ts';
import { leases } from './leases.ts';
import { metrics } from './metrics.ts';
import { operate } from './operate.ts';
import { operations } from './operations.ts';
import { overview } from './overview.ts';
import { processes } from './processes.ts';
import { raft } from './raft.ts';
import { resources } from './resources.ts';
import { sections } from './sections.ts';
import { settings } from './settings.ts';
import { shell } from './shell.ts';
import { states } from './states.ts';
import { timelinePage } from './timeline.ts';
import { workspacesPage } from './workspaces.ts';
import { xray } from './xray.ts';

export const de: Messages = {
  ...german,
  ...shell,
  ...states,
  ...addNode,
  ...certificates,
  ...clusters,
  ...controllersPage,
  ...detail,
  ...doctorPage,
  ...drills,
  ...editor,
  ...helm,
  ...history,
  ...leases,
  ...extensionsPage,
  ...files,
  ...forwardsPage,
  ...graphPage,
  ...guard,
  ...operate,
  ...operations,
  ...overview,
  ...processes,
  ...raft,
  ...resources,
  ...sections,
  ...settings,
  ...events,
  ...metrics,
  ...timelinePage,
  ...workspacesPage,
  ...xray,
  ...actionsPage,
  ...admission,
};
