import { inEnglish, type Said } from '../../contract/index.ts';

/** How an operation tells its steps while it is at them. */
export interface StepReport {
  /** All steps in order, before the first begins; may be called again when more is known. */
  plan(steps: readonly Step[]): void;
  begin(id: string): void;
  detail(id: string, detail: Said | null): void;
  end(id: string, detail?: Said): void;
  /** Between steps: waits while the operation is paused. */
  checkpoint(): Promise<void>;
}

export interface Step {
  readonly id: string;
  readonly title: Said;
}

export const silentReport: StepReport = {
  plan: () => undefined,
  begin: () => undefined,
  detail: () => undefined,
  end: () => undefined,
  checkpoint: () => Promise.resolve(),
};

/** One line for each step that has ended, for a terminal. `checkpoint` is where the caller may hold it. */
export const lineReport = (
  print: (line: string) => void,
  checkpoint: () => Promise<void> = () => Promise.resolve(),
): StepReport => {
  const titles = new Map<string, Said>();
  return {
    plan: (steps) => {
      for (const { id, title } of steps) titles.set(id, title);
    },
    begin: () => undefined,
    detail: () => undefined,
    end: (id, detail) => {
      const title = titles.get(id);
      const line = title ? inEnglish(title) : id;
      print(detail === undefined ? line : `${line}: ${inEnglish(detail)}`);
    },
    checkpoint,
  };
};

/** Runs one step; its failure is the operation's. */
export const inStep = async <T>(
  report: StepReport,
  id: string,
  run: () => Promise<T>,
  detailOf: (outcome: T) => Said | undefined = () => undefined,
): Promise<T> => {
  await report.checkpoint();
  report.begin(id);
  const outcome = await run();
  report.end(id, detailOf(outcome));
  return outcome;
};
