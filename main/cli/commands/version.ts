import { EXIT_OK, parseOptions, type Command } from '../command.ts';
import { PRODUCT_VERSION } from '../product-version.ts';

export const version: Command = {
  usage: '  pilothouse version [-o json]',
  async run(args, context) {
    const { json } = parseOptions({}, args, context);
    const facts = { version: PRODUCT_VERSION, node: process.versions.node, platform: process.platform };
    context.print(json ? JSON.stringify(facts) : `pilothouse ${PRODUCT_VERSION}`);
    return EXIT_OK;
  },
};
