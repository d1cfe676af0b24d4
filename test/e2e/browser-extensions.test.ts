import { afterAll, beforeAll, test } from 'vitest';
import { openConsolePlane, type ConsolePlane } from '../support/console-plane.ts';
import { confineHostileExtension, useSampleExtension } from './extension-steps.ts';

const OCTET = 155;

let plane: ConsolePlane;
beforeAll(async () => {
  plane = await openConsolePlane(OCTET);
});
afterAll(() => plane?.close());

test('an extension is allowed by a person, reads what it declared, and is asked about again after a change', () =>
  useSampleExtension(plane.page, plane.dataDirectory));

test('an extension that tries to escape reaches nothing, and is stopped when it floods, leaves or hangs', () =>
  confineHostileExtension(plane.page, plane.dataDirectory));
