import { ACCUMULATOR } from '../syntax/ast.ts';
import { goTypeName } from '../values/print.ts';
import { ArrayList, CelList, GrowingList } from '../values/lists.ts';
import { CelMap, GrowingMap } from '../values/maps.ts';
import { CelError, type Value, error } from '../values/value.ts';
import type { Frame, Step } from './frame.ts';

export interface ComprehensionSteps {
  readonly range: Step;
  readonly condition: Step;
  readonly step: Step;
  readonly result: Step;
}

/** Where the variables of a comprehension are kept in the frame. */
export interface Slots {
  readonly accumulator: number;
  readonly variable: number;
  readonly variable2: number | undefined;
}

/** What an accumulator begins with. The hidden one may grow in place, since no expression can hold on to it. */
export const startValue = (value: Value, accumulator: string): Value => {
  if (accumulator !== ACCUMULATOR) return value;
  if (value instanceof CelList && value.size === 0) return new GrowingList();
  return value instanceof CelMap && value.size === 0 ? new GrowingMap() : value;
};

const finished = (value: Value): Value =>
  value instanceof GrowingList ? new ArrayList(value.values) : value;

/** Runs one round; false ends the loop. A condition that fails does not end it. */
const round = (frame: Frame, steps: ComprehensionSteps, slots: Slots): boolean => {
  if (steps.condition(frame) === false) return false;
  frame.locals[slots.accumulator] = steps.step(frame);
  return true;
};

const overList = (frame: Frame, list: CelList, steps: ComprehensionSteps, slots: Slots): void => {
  const { locals } = frame;
  for (let index = 0; index < list.size; index++) {
    if (slots.variable2 === undefined) locals[slots.variable] = list.at(index);
    else {
      locals[slots.variable] = index;
      locals[slots.variable2] = list.at(index);
    }
    if (!round(frame, steps, slots)) return;
  }
};

const overMap = (frame: Frame, map: CelMap, steps: ComprehensionSteps, slots: Slots): void => {
  for (const key of map.keys()) {
    frame.locals[slots.variable] = key;
    if (slots.variable2 !== undefined) frame.locals[slots.variable2] = map.find(key)!;
    if (!round(frame, steps, slots)) return;
  }
};

/** Upstream names its own types here. */
const notARange = (value: Value, isTwoVariables: boolean): CelError => {
  const name = goTypeName(value);
  return error(
    isTwoVariables
      ? `unsupported comprehension range type: ${name}`
      : `got '${name}', expected iterable type`,
  );
};

export const comprehensionStep =
  (steps: ComprehensionSteps, slots: Slots): Step =>
  (frame) => {
    const range = steps.range(frame);
    if (range instanceof CelError) return range;
    // The accumulator is evaluated when it is first read; an earlier run of the same loop must not show.
    frame.locals[slots.accumulator] = undefined;
    if (range instanceof CelList) overList(frame, range, steps, slots);
    else if (range instanceof CelMap) overMap(frame, range, steps, slots);
    else return notARange(range, slots.variable2 !== undefined);
    return finished(steps.result(frame));
  };
