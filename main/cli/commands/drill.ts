import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf, ReasonError } from '../../../core/base/errors.ts';
import { callControl } from '../../../core/cluster/control/client.ts';
import { builtInText, listDrills } from '../../../core/cluster/drills/library/index.ts';
import { parseDrill } from '../../../core/cluster/drills/parse-drill.ts';
import {
  DRILL_CHARACTERS_MAX,
  inEnglish,
  type DrillRequest,
  type DrillRun,
  type DrillView,
} from '../../../core/contract/index.ts';
import {
  EXIT_FAILURE,
  EXIT_OK,
  leadingWords,
  parseOptions,
  usageError,
  type Command,
  type CommandContext,
} from '../command.ts';

const USAGE = `  pilothouse drill list [-o json]
  pilothouse drill show NAME
  pilothouse drill start NAME|FILE.yaml [--data DIR] [-o json]
  pilothouse drill status [--data DIR] [-o json]
  pilothouse drill hint [--data DIR] [-o json]
  pilothouse drill check [--data DIR] [-o json]
  pilothouse drill solve [--data DIR] [-o json]
  pilothouse drill give-up [--data DIR] [-o json]

  Rehearses incidents on a scratch cluster, created with pilothouse up --drills. start breaks the cluster and shows the
  symptoms; find the cause and repair it with any tool; check says whether it is repaired and grades time, steps and
  hints. solve runs the solution of the drill. Both solving it and giving up undo what the drill did. show prints the
  document of a drill; write your own and start it by its file.`;

/** Exits with 1 while the drill is not solved. */
const REQUESTS: Readonly<Record<string, DrillRequest>> = {
  hint: { kind: 'hint' },
  check: { kind: 'check' },
  solve: { kind: 'solve' },
  'give-up': { kind: 'giveUp' },
};

const minutes = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${`${seconds % 60}`.padStart(2, '0')}`;

const gradeLines = ({ grade }: DrillRun): readonly string[] =>
  grade
    ? [
        ...(grade.isScripted ? [] : [`score ${grade.score} of 100`]),
        `time  ${minutes(grade.seconds)} (par ${minutes(grade.parSeconds)})`,
        `steps ${grade.steps} (par ${grade.parSteps})`,
        `hints ${grade.hints}`,
      ]
    : [];

const linesOf = (run: DrillRun): readonly string[] => [
  `${run.name}: ${run.words.title} (${run.phase})`,
  ...run.words.symptoms.map((line) => `  ${line}`),
  ...run.words.hints.map((line, index) => `  hint ${index + 1} of ${run.hintsTotal}: ${line}`),
  ...(run.checks ?? []).map(
    ({ isPassed, detail }, index) =>
      `  ${isPassed ? 'ok     ' : 'not yet'} ${run.words.assertions[index] || 'the cause is repaired'}${detail ? `: ${inEnglish(detail)}` : ''}`,
  ),
  ...gradeLines(run).map((line) => `  ${line}`),
  ...(run.problem ? [`  ${inEnglish(run.problem)}`] : []),
];

const tell = ({ run, isScratch }: DrillView, json: boolean, context: CommandContext): void => {
  if (json) context.print(JSON.stringify({ isScratch, run }));
  else if (run) for (const line of linesOf(run)) context.print(line);
  else context.print('no drill is running');
};

const isFile = (word: string): boolean => /\.ya?ml$/.test(word);

const startRequest = async (word: string, cwd: string): Promise<DrillRequest> => {
  if (!isFile(word)) return { kind: 'start', name: word };
  const path = resolve(cwd, word);
  try {
    const { size } = await stat(path);
    if (size > DRILL_CHARACTERS_MAX)
      throw new ReasonError('BadDrill', `${word} is longer than ${DRILL_CHARACTERS_MAX} bytes`);
    const text = await readFile(path, 'utf8');
    // Before the cluster is asked: the message names the file.
    parseDrill(text, word);
    return { kind: 'startOwn', text };
  } catch (cause) {
    if (cause instanceof ReasonError) throw cause;
    throw new ReasonError('BadFile', `cannot read ${word}: ${messageOf(cause)}`, { cause });
  }
};

const printList = (json: boolean, context: CommandContext): void => {
  const drills = listDrills();
  if (json) return context.print(JSON.stringify(drills));
  for (const { name, topic, difficulty, title, parSeconds } of drills)
    context.print(
      `${name.padEnd(22)} ${topic.padEnd(13)} ${difficulty.padEnd(7)} par ${minutes(parSeconds)}  ${title}`,
    );
};

export const drill: Command = {
  usage: USAGE,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    const [verb = '', ...names] = words;
    const { dataDirectory, json } = parseOptions({}, rest, context);
    const ask = (request: DrillRequest): Promise<DrillView> =>
      callControl(dataDirectory, 'drill.request', { request: JSON.stringify(request) });
    if (verb === 'list' && names.length === 0) printList(json, context);
    else if (verb === 'show' && names.length === 1) context.print(builtInText(names[0]!).trimEnd());
    else if (verb === 'status' && names.length === 0)
      tell(await callControl(dataDirectory, 'drill.view', {}), json, context);
    else if (verb === 'start' && names.length === 1)
      tell(await ask(await startRequest(names[0]!, context.cwd)), json, context);
    else {
      const request = REQUESTS[verb];
      if (!request || names.length > 0)
        throw usageError('drill requires list, show, start, status, hint, check, solve or give-up');
      const view = await ask(request);
      tell(view, json, context);
      const isChecked = verb === 'check' || verb === 'solve';
      if (isChecked && view.run?.phase !== 'solved') return EXIT_FAILURE;
    }
    return EXIT_OK;
  },
};
