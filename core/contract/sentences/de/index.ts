import type { SentenceCode, Sentences } from '../catalogue.ts';
import type { PluralForms } from '../placeholders.ts';
import { checks } from './checks.ts';
import { clusterFailures } from './cluster-failures.ts';
import { controllers } from './controllers.ts';
import { directoryFailures } from './directory-failures.ts';
import { doctor } from './doctor.ts';
import { drills } from './drills.ts';
import { extensions } from './extensions.ts';
import { failures } from './failures.ts';
import { findings } from './findings.ts';
import { graph } from './graph.ts';
import { harden } from './harden.ts';
import { history } from './history.ts';
import { hostOperations } from './host-operations.ts';
import { native } from './native.ts';
import { notices } from './notices.ts';
import { timeline } from './timeline.ts';

/** Every sentence of the host in German, counted where English counts. */
export const german: { readonly [C in SentenceCode]: Sentences[C] extends string ? string : PluralForms } = {
  ...checks,
  ...clusterFailures,
  ...controllers,
  ...directoryFailures,
  ...doctor,
  ...drills,
  ...extensions,
  ...failures,
  ...findings,
  ...graph,
  ...harden,
  ...history,
  ...hostOperations,
  ...native,
  ...notices,
  ...timeline,
};
