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
import { native } from './native.ts';
import { notices } from './notices.ts';
import { operations } from './operations.ts';
import { timeline } from './timeline.ts';

/** Every sentence that the host sends to the console, in English; `de/` has the same in German. */
export const sentences = {
  /** What another program says (an API server, the operating system), or a command: it has one language. */
  verbatim: '{text}',
  /** Sentences that belong together. */
  together: '{parts}',
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
  ...native,
  ...notices,
  ...operations,
  ...timeline,
} as const;

export type Sentences = typeof sentences;
export type SentenceCode = keyof Sentences;

type IdIn<Code> = Code extends `check.${infer Id}` ? Id : never;
/** Every check has a title by its id: `check.<id>`. */
export type CheckId = IdIn<SentenceCode>;
