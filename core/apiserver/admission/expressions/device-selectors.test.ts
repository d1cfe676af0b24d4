import { expect, test } from 'vitest';
import { errorText } from '../../../api/field/field-error.ts';
import { checkDeviceSelectors } from './device-selectors.ts';

const errorsOf = async (...expressions: readonly string[]): Promise<string[]> => {
  const selectors = expressions.map((expression) => ({ cel: { expression } }));
  const object = { metadata: { name: 'd' }, spec: { selectors } };
  const found = await checkDeviceSelectors({ kind: 'DeviceClass', object, before: undefined }, [], 36);
  return found.map(errorText);
};

test('selectors see the driver, attributes and capacity of a device', async () => {
  expect(
    await errorsOf(
      'device.driver == "x.y" && device.attributes["x.y"].model == "a"',
      'device.capacity["x.y"].memory.compareTo(quantity("1Gi")) > 0',
      'device.attributes["x.y"].isFast',
      'device.attributes["x.y"].version.isGreaterThan(semver("1.0.0"))',
    ),
  ).toEqual([]);
});

// The texts are those of kube-apiserver 1.36.4.
test('a selector that does not compile, or is no decision, is refused', async () => {
  expect(await errorsOf('device.odd == 1', 'device.driver', '')).toEqual([
    `spec.selectors[0].cel.expression: Invalid value: "device.odd == 1": compilation failed: ERROR: <input>:1:7: undefined field 'odd'\n | device.odd == 1\n | ......^`,
    'spec.selectors[1].cel.expression: Invalid value: "device.driver": must evaluate to bool or the unknown type, not string',
    "spec.selectors[2].cel.expression: Invalid value: \"\": compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
  ]);
});

test('a stored selector is left alone while the spec stays', async () => {
  const object = { metadata: { name: 'd' }, spec: { selectors: [{ cel: { expression: 'odd' } }] } };
  expect(await checkDeviceSelectors({ kind: 'DeviceClass', object, before: object }, [], 36)).toEqual([]);
});
