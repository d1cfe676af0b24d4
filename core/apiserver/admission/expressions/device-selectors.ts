import type { KubernetesObject } from '../../../api/meta/index.ts';
import { child, index } from '../../../api/field/field-path.ts';
import { invalid, type FieldError, type FieldErrorList } from '../../../api/field/field-error.ts';
import { maybeObj, obj, objs, sameValue, str, type Obj } from '../../../api/validation/read.ts';
import type { Environment, Version } from '../../../cel/index.ts';
import { loadCel, type Cel } from './cel.ts';
import { compileAll } from './compile.ts';

const EXPRESSION_CHARACTERS_MAX = 10 * 1_024;

interface Selector {
  readonly path: string;
  readonly expression: string;
}

const selectorsIn = (path: string, of: Obj): Selector[] =>
  objs(of, 'selectors').flatMap((selector, at) => {
    const cel = maybeObj(selector, 'cel');
    const here = child(index(child(path, 'selectors'), at), 'cel', 'expression');
    return cel ? [{ path: here, expression: str(cel, 'expression') }] : [];
  });

const requestSelectors = (path: string, spec: Obj): Selector[] =>
  objs(obj(spec, 'devices'), 'requests').flatMap((request, at) => {
    const here = index(child(path, 'devices', 'requests'), at);
    return [
      ...selectorsIn(child(here, 'exactly'), obj(request, 'exactly')),
      ...objs(request, 'firstAvailable').flatMap((one, number) =>
        selectorsIn(index(child(here, 'firstAvailable'), number), one),
      ),
    ];
  });

/** Where each kind keeps its selectors. */
const SELECTORS: Readonly<Record<string, (object: KubernetesObject) => readonly Selector[]>> = {
  DeviceClass: (object) => selectorsIn('spec', obj(object, 'spec')),
  ResourceClaim: (object) => requestSelectors('spec', obj(object, 'spec')),
  ResourceClaimTemplate: (object) => requestSelectors('spec.spec', obj(obj(object, 'spec'), 'spec')),
};

export const KINDS_WITH_DEVICE_SELECTORS: readonly string[] = Object.keys(SELECTORS);

const DEVICE = 'kubernetes.DRADevice';

/** One variable: the device, whose attributes are of any type. */
const deviceEnvironment = (cel: Cel, version: Version): Environment => {
  const { STRING, BOOL, DYN, mapOf, structOf } = cel.types;
  const type = structOf(DEVICE);
  const fields: Readonly<Record<string, typeof type>> = {
    driver: STRING,
    attributes: mapOf(STRING, mapOf(STRING, DYN)),
    capacity: mapOf(STRING, mapOf(STRING, structOf('kubernetes.Quantity'))),
    allowMultipleAllocations: BOOL,
  };
  return cel.createEnvironment({
    version,
    structs: (name) =>
      name === DEVICE
        ? { type, field: (field) => (Object.hasOwn(fields, field) ? fields[field] : undefined) }
        : undefined,
    variables: { device: { type, convert: cel.fromNative } },
  });
};

const selectorErrors = (cel: Cel, environment: Environment, selector: Selector): FieldError[] => {
  const { path, expression } = selector;
  // The rules of the kind refuse what is longer.
  if (expression.length > EXPRESSION_CHARACTERS_MAX) return [];
  const compiled = environment.compile(expression);
  if (!compiled.ok) return [invalid(path, expression, `compilation failed: ${compiled.text}`)];
  const { types } = cel;
  const { resultType } = compiled.program;
  const isDecision = [types.BOOL, types.DYN].some((type) => types.isExactType(resultType, type));
  return isDecision
    ? []
    : [
        invalid(
          path,
          expression,
          `must evaluate to bool or the unknown type, not ${types.formatType(resultType)}`,
        ),
      ];
};

/** Upstream looks at requests before what refers to them. */
const AFTER_REQUESTS = /\.(constraints|config)\b/;

/** Adds to what is wrong with a class or claim the selectors that are no decision about a device. */
export const checkDeviceSelectors = (
  { kind, object, before }: { kind: string; object: KubernetesObject; before: KubernetesObject | undefined },
  found: FieldErrorList,
  minor: number,
): Promise<FieldErrorList> | FieldErrorList => {
  const selectors = SELECTORS[kind]?.(object) ?? [];
  if (selectors.length === 0 || (before && sameValue(object['spec'], before['spec']))) return found;
  return loadCel().then(async (cel) => {
    const environment = deviceEnvironment(cel, `1.${minor - 1}`);
    const errors = await compileAll(selectors, (selector) => selectorErrors(cel, environment, selector));
    const after = found.findIndex(({ field }) => AFTER_REQUESTS.test(field));
    const at = after < 0 ? found.length : after;
    return [...found.slice(0, at), ...errors.flat(), ...found.slice(at)];
  });
};
