import { say, together } from '../../../contract/index.ts';
import { exposedFiles } from '../../data-folder/exposed-files.ts';
import { bad, ok, type CheckItem } from '../item.ts';

const SHOWN_MAX = 5;

export const fileModes: CheckItem = {
  id: 'fileModes',
  async measure({ dataDirectory }) {
    const uid = process.getuid?.();
    if (uid === undefined) return ok(say('found.fileModes.inherited'));
    const exposed = await exposedFiles(dataDirectory, uid);
    if (exposed.length === 0) return ok(say('found.fileModes.ok', { folder: dataDirectory }));
    const shown = together(exposed.slice(0, SHOWN_MAX));
    const more = exposed.length - SHOWN_MAX;
    return bad(
      more > 0 ? say('found.more', { names: shown, count: more }) : shown,
      say('advice.fileModes', { folder: dataDirectory }),
    );
  },
};
